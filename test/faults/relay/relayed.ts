import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';
import { stored } from '../../fixtures/counters';
import { goldenData } from '../../fixtures/golden-events';
import { MemoryLog } from '../../fixtures/memory-log';
import { documentStream, openedRelay } from '../../fixtures/opened-relay';

/** A log and a relay over it to brokers, with what a consumer finds there. */
export const relayed = (brokers: readonly string[]) => {
  const log = new MemoryLog();
  const topicPrefix = `test-${randomUUID()}.`;
  const { relay, start } = openedRelay({ log, topicPrefix, brokers });

  /** Appends events of documents: each stream begins with an addition. */
  const write = async (streams: number, events: number): Promise<void> => {
    for (let id = 0; id < streams; id += 1) {
      const isNew = (await log.readStream(documentStream(id), { limit: 1 })).length === 0;
      await log.append(
        documentStream(id),
        Array.from({ length: events }, (_, index) =>
          isNew && index === 0
            ? stored('DocumentAdded', goldenData('DocumentAdded', 1))
            : stored('DocumentRenamed', goldenData('DocumentRenamed', 1)),
        ),
        'any',
      );
    }
  };

  const read = (at: readonly string[]) => readTopic(at, `${topicPrefix}documents`);

  return { log, relay, start, topicPrefix, write, read };
};

/** Sequence numbers by stream, in the order in which they stand in the topic, repeats left out; and how many messages there are in all. */
export const readTopic = async (brokers: readonly string[], topic: string) => {
  const kafka = new Kafka({ clientId: 'test', brokers: [...brokers], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const ends = new Map((await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => [partition, Number(high)]));
  await admin.disconnect();
  const all = [...ends.values()].reduce((sum, end) => sum + end, 0);
  const streams = new Map<string, number[]>();
  const seen = new Set<string>();
  let messages = 0;
  const consumer = kafka.consumer({ groupId: `test-${randomUUID()}` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        eachMessage: async ({ message }) => {
          messages += 1;
          const id = String(message.headers?.['ce_id']);
          const sequences = streams.get(String(message.key)) ?? [];
          if (!seen.has(id))
            sequences.push(Number((JSON.parse(String(message.value)) as { sequence: string }).sequence));
          streams.set(String(message.key), sequences);
          seen.add(id);
          if (messages === all) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return { streams, messages };
};

/** What every stream of so many events must read as. */
export const inOrder = (events: number): number[] => Array.from({ length: events }, (_, index) => index);

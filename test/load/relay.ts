import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type EventLog, openSqliteEventLog } from '@app/event-log';
import { aggregates } from '@app/hosting';
import { systemClock } from '@app/kernel';
import type { Runner } from '@app/projecting';
import { openRelay } from '@app/relay';
import { Kafka, logLevel, Partitioners, type ProducerConfig } from 'kafkajs';
import { stored } from '../fixtures/counters';
import { goldenData } from '../fixtures/golden-events';
import { type Measured, measured } from './measured';
import { median } from './rate';

/**
 * The relay from a log on SQLite beside bare kafkajs producers that send messages of about that size in batches of the same
 * number with the same acknowledgements, in turn; needs `KAFKA_BROKERS`. Prints messages per second, processor time and ratios.
 */

const EVENTS = Number(process.env['EVENTS'] ?? 40_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const STREAMS = 500;
const BATCH = 500;
const PARTITIONS = 6;
/** Until a broker leads the partitions of new topics. */
const SETTLE_MS = 2_000;
const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
const kafka = new Kafka({ clientId: 'load', brokers, logLevel: logLevel.ERROR });

const streamOf = (id: number): string => `document-00000000-0000-7000-8000-${String(id).padStart(12, '0')}`;

/** A log of its own for each round, so that the relay begins at its start. */
const withLog = async <T>(use: (log: EventLog) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-load-'));
  const log = await openSqliteEventLog({ folder });
  try {
    await fill(log);
    return await use(log);
  } finally {
    await log.close();
    rmSync(folder, { recursive: true });
  }
};

/** The life of a document, over and over. */
const LIFE = ['DocumentAdded', 'DocumentIndexed', 'DocumentReady', 'DocumentRenamed'].map(
  (type) => [type, goldenData(type, 1)] as const,
);

const fill = async (log: EventLog): Promise<void> => {
  for (let id = 0; id < STREAMS; id += 1) {
    const lives = Array.from({ length: EVENTS / STREAMS / LIFE.length }, () =>
      LIFE.map(([type, data]) => stored(type, data)),
    );
    await log.append(streamOf(id), lives.flat(), 'noStream');
  }
};

const withTopic = async <T>(use: (topicPrefix: string) => Promise<T>): Promise<T> => {
  const topicPrefix = `load-${randomUUID()}.`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({
    topics: ['users', 'spaces', 'agents', 'documents', 'conversations'].map((subject) => ({
      topic: topicPrefix + subject,
      numPartitions: PARTITIONS,
    })),
    waitForLeaders: false,
  });
  await setTimeout(SETTLE_MS);
  try {
    return await use(topicPrefix);
  } finally {
    await admin.deleteTopics({ topics: (await admin.listTopics()).filter((topic) => topic.startsWith(topicPrefix)) });
    await admin.disconnect();
  }
};

/** From the log, read and mapped. */
const throughTheRelay = (log: EventLog): Promise<Measured> =>
  withTopic(async (topicPrefix) => {
    const logger = { info: () => undefined, warn: console.warn, error: console.error };
    const relay = openRelay({
      log,
      aggregates,
      clock: systemClock,
      logger,
      source: 'urn:load',
      topicPrefix,
      brokers,
      ssl: false,
      partitions: PARTITIONS,
      replication: 1,
    });
    await relay.health();
    let run: Runner | undefined;
    const rate = await measured(EVENTS, async () => {
      run = await relay.start(() => undefined);
      while (relay.counts.published < EVENTS) await setTimeout(1);
    });
    await run?.stop();
    return rate;
  });

/** Messages of about the size that the relay sends, from memory; each written as JSON on its way, as a program with objects to tell does. */
const bare = (config: ProducerConfig): Promise<Measured> =>
  withTopic(async (topicPrefix) => {
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, ...config });
    await producer.connect();
    const data = { documentId: randomUUID(), attempt: 1, chunkCount: 1 };
    const rate = await measured(EVENTS, async () => {
      for (let start = 0; start < EVENTS; start += BATCH) {
        const messages = Array.from({ length: BATCH }, (_, index) => {
          const id = randomUUID();
          const key = streamOf((start + index) % STREAMS);
          const type = 'agent-platform.document.ready.v1';
          const value = JSON.stringify({
            specversion: '1.0',
            id,
            source: 'urn:load',
            type,
            subject: key,
            time: '2026-01-01T00:00:00.000Z',
            sequence: String(index),
            datacontenttype: 'application/json',
            dataschema: 'urn:agent-platform:integration-event:document.ready:v1',
            data,
          });
          return {
            key,
            value,
            headers: {
              'content-type': 'application/cloudevents+json; charset=UTF-8',
              ce_specversion: '1.0',
              ce_id: id,
              ce_type: type,
              ce_source: 'urn:load',
            },
          };
        });
        await producer.sendBatch({ topicMessages: [{ topic: `${topicPrefix}documents`, messages }], acks: -1 });
      }
    });
    await producer.disconnect();
    return rate;
  });

const main = async (): Promise<void> => {
  const rounds: { readonly relay: Measured; readonly same: Measured; readonly plain: Measured }[] = [];
  // The first round warms up and is not counted.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const same = await bare({ idempotent: true, maxInFlightRequests: 1 });
    const relay = await withLog(throughTheRelay);
    const plain = await bare({ maxInFlightRequests: 1 });
    if (round > 0) rounds.push({ relay, same, plain });
  }
  const line = (name: string, rates: readonly Measured[]): string =>
    `  ${name.padEnd(44)} ${Math.round(median(rates.map(({ perSecond }) => perSecond))).toLocaleString('en')}/s   ${median(rates.map(({ cpu }) => cpu)).toFixed(1)} us of processor each`;
  console.log(`${EVENTS} messages in batches of ${BATCH}, acknowledged by all replicas, medians of ${ROUNDS} rounds`);
  console.log(
    line(
      'relay, from the log',
      rounds.map(({ relay }) => relay),
    ),
  );
  console.log(
    line(
      'bare producer, idempotent as the relay',
      rounds.map(({ same }) => same),
    ),
  );
  console.log(
    line(
      'bare producer, not idempotent',
      rounds.map(({ plain }) => plain),
    ),
  );
  console.log(
    `  relay / bare producer, idempotent: ${median(rounds.map(({ relay, same }) => relay.perSecond / same.perSecond)).toFixed(2)} (target 0.70)`,
  );
  console.log(
    `  idempotent / not idempotent: ${median(rounds.map(({ same, plain }) => same.perSecond / plain.perSecond)).toFixed(2)}`,
  );
};

void main();

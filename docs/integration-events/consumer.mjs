// An example consumer of integration events: counts documents and tokens, each event once.
//
//   KAFKA_BROKERS=127.0.0.1:9092 node docs/integration-events/consumer.mjs
//
// KAFKA_TOPIC_PREFIX and KAFKA_GROUP say what to read and as whom; STATE_FILE is where the effect is kept.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Kafka, logLevel } from 'kafkajs';

const { KAFKA_BROKERS = '127.0.0.1:9092', KAFKA_TOPIC_PREFIX = 'platform.', KAFKA_GROUP = 'example', STATE_FILE = 'consumer-state.json' } = process.env;
const topics = ['documents', 'conversations'].map((subject) => KAFKA_TOPIC_PREFIX + subject);
/** Ids remembered for each partition. A repeat follows what it repeats closely; keep as many as one outage may bring again. */
const REMEMBERED = 10_000;

/** The effect and the ids behind it, written together: so that a repeat is known as one after a crash too. A database would use one transaction. */
const state = existsSync(STATE_FILE) ? JSON.parse(readFileSync(STATE_FILE, 'utf8')) : { documents: 0, ready: 0, tokens: 0, seen: {} };
const save = () => {
  writeFileSync(`${STATE_FILE}.new`, JSON.stringify(state));
  renameSync(`${STATE_FILE}.new`, STATE_FILE);
};

const effects = {
  'agent-platform.document.created.v1': () => (state.documents += 1),
  'agent-platform.document.deleted.v1': () => (state.documents -= 1),
  'agent-platform.document.ready.v1': () => (state.ready += 1),
  'agent-platform.conversation.answered.v1': ({ usage }) => (state.tokens += usage?.totalTokens ?? 0),
};

const handle = (partition, { headers, value }) => {
  const id = headers.ce_id.toString();
  const seen = (state.seen[partition] ??= []);
  if (seen.includes(id)) return false;
  const { type, data } = JSON.parse(value.toString());
  // Types and fields that are not known here are passed over: the contract may grow.
  effects[type]?.(data);
  seen.push(id);
  if (seen.length > REMEMBERED) seen.shift();
  return true;
};

const kafka = new Kafka({ clientId: 'example-consumer', brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.ERROR });
const consumer = kafka.consumer({ groupId: KAFKA_GROUP });

await consumer.connect();
await consumer.subscribe({ topics, fromBeginning: true });
await consumer.run({
  autoCommit: false,
  eachBatch: async ({ batch, heartbeat, isRunning, isStale }) => {
    if (!isRunning() || isStale()) return;
    const fresh = batch.messages.filter((message) => handle(`${batch.topic}/${batch.partition}`, message)).length;
    save();
    // After the effect, never before: what fails in between comes again and is known by its id.
    await consumer.commitOffsets([{ topic: batch.topic, partition: batch.partition, offset: String(BigInt(batch.lastOffset()) + 1n) }]);
    await heartbeat();
    const { documents, ready, tokens } = state;
    console.log(JSON.stringify({ topic: batch.topic, partition: batch.partition, received: batch.messages.length, fresh, documents, ready, tokens }));
  },
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => consumer.disconnect().then(() => process.exit(0)));
}

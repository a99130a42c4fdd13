import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aggregates } from '@app/hosting';
import type { KafkaRelayOptions } from '@app/relay';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { stored } from '../fixtures/counters';
import { goldenData } from '../fixtures/golden-events';
import { MemoryLog } from '../fixtures/memory-log';
import { documentStream as document, openedRelay } from '../fixtures/opened-relay';
import { startTestPlatform } from '../e2e/harness';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { withServer } from './with-server';

const CANARY = 'canary-that-must-not-leave';
const added = () => stored('DocumentAdded', goldenData('DocumentAdded', 1));
const renamed = () => stored('DocumentRenamed', goldenData('DocumentRenamed', 1));
const started = () => stored('ConversationStarted', { ...goldenData('ConversationStarted', 1), kind: 'normal' });
const answered = () => stored('AssistantMessageAdded', goldenData('AssistantMessageAdded', 1));

withServer('KAFKA_BROKERS', 'The relay on Kafka', (servers) => {
  const brokers = servers.split(',');
  const kafka = new Kafka({ clientId: 'test', brokers, logLevel: logLevel.NOTHING });
  let admin: Admin;
  let topicPrefix: string;
  let log: MemoryLog;

  beforeAll(async () => {
    admin = kafka.admin();
    await admin.connect();
  });
  afterAll(() => admin.disconnect());
  beforeEach(() => {
    topicPrefix = `test-${randomUUID()}.`;
    log = new MemoryLog();
  });
  afterEach(async () => {
    const made = (await admin.listTopics()).filter((topic) => topic.startsWith(topicPrefix));
    if (made.length > 0) await admin.deleteTopics({ topics: made });
  });

  const relayWith = (options: Partial<KafkaRelayOptions> = {}) =>
    openedRelay({ log, topicPrefix, brokers, ...options });

  /** Everything in the topics, in the order of each partition. */
  const readAll = async (count: number) => {
    const messages: {
      topic: string;
      partition: number;
      key: string;
      id: string;
      type: string;
      source: string;
      sequence: number;
      value: string;
    }[] = [];
    const places = new Set<string>();
    const consumer = kafka.consumer({ groupId: `test-${randomUUID()}` });
    await consumer.connect();
    await consumer.subscribe({
      topics: aggregates.subjects.map((subject) => topicPrefix + subject),
      fromBeginning: true,
    });
    await consumer.run({
      eachMessage: async ({ topic, partition, message }) => {
        // A consumer that rejoins its group on a busy machine reads a partition once more: that is not sent twice.
        const place = `${topic} ${partition} ${message.offset}`;
        if (places.has(place)) return;
        places.add(place);
        const value = String(message.value);
        const { id, type, source, sequence } = JSON.parse(value) as {
          id: string;
          type: string;
          source: string;
          sequence: string;
        };
        messages.push({
          topic,
          partition,
          key: String(message.key),
          id,
          type,
          source,
          sequence: Number(sequence),
          value,
        });
      },
    });
    await until(() => messages.length >= count);
    await consumer.disconnect();
    return messages;
  };

  it('makes its topics as configured, and sends each stream in order to one partition', async () => {
    const { relay, start } = relayWith();
    for (let id = 0; id < 20; id += 1)
      await log.append(document(id), [added(), ...Array.from({ length: 60 }, renamed)], 'noStream');
    const run = await start();
    await until(() => relay.counts.published === 1_220);
    await run.stop();
    const { topics } = await admin.fetchTopicMetadata({
      topics: aggregates.subjects.map((subject) => topicPrefix + subject),
    });
    expect(topics.map(({ partitions }) => partitions.length)).toEqual(aggregates.subjects.map(() => 3));
    const messages = await readAll(1_220);
    expect(messages).toHaveLength(1_220);
    for (const [, ofStream] of Map.groupBy(messages, ({ key }) => key)) {
      expect(ofStream.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 61 }, (_, index) => index));
      expect(new Set(ofStream.map(({ partition }) => partition)).size).toBe(1);
    }
  });

  it('sends fewer at once where a topic takes no more, each stream in order', async () => {
    const topic = `${topicPrefix}documents`;
    const configEntries = [{ name: 'max.message.bytes', value: '20000' }];
    // Waiting for leaders fails where a broker does not know the topic yet.
    await admin.createTopics({ topics: [{ topic, numPartitions: 3, configEntries }], waitForLeaders: false });
    await until(async () => (await admin.listTopics()).includes(topic));
    const { relay, start } = relayWith();
    await log.append(document(1), [added(), ...Array.from({ length: 299 }, renamed)], 'noStream');
    const run = await start();
    await until(() => relay.counts.published === 300);
    await run.stop();
    const sequence = (await readAll(300)).map((message) => message.sequence);
    expect([...new Set(sequence)]).toEqual(Array.from({ length: 300 }, (_, index) => index));
  });

  it('tells what happens on a platform, once, and never a rebuild or content', async () => {
    const platform = await startTestPlatform({
      environment: {
        KAFKA_BROKERS: servers,
        KAFKA_TOPIC_PREFIX: topicPrefix,
        BASE_URL: 'https://platform.example.com',
      },
    });
    try {
      const relayed = async () =>
        (await platform.call<{ policies: { name: string; lagEvents: number }[] }>('/health')).body.policies.find(
          ({ name }) => name === 'relay',
        )?.lagEvents === 0;
      const space = await platform.call<{ id: string }>('/api/v1/core/spaces', {
        method: 'POST',
        body: { name: `Space ${CANARY}`, slug: 'canary', description: CANARY },
      });
      expect(space.status).toBe(201);
      const agent = await platform.call<{ id: string }>('/api/v1/core/agents', {
        method: 'POST',
        body: { name: CANARY, systemPrompt: CANARY, spaceId: space.body.id },
      });
      expect(agent.status).toBe(201);
      await until(relayed);
      const sent = platform.platform.host.relay?.counts.published ?? 0;
      expect(
        (await platform.call('/api/v1/operations/projections/agents/rebuild', { method: 'POST', body: { swap: true } }))
          .status,
      ).toBe(202);
      await until(
        async () =>
          (await platform.call<{ version: number }>('/api/v1/operations/projections/agents')).body.version === 2,
      );
      await until(relayed);
      expect(platform.platform.host.relay?.counts.published).toBe(sent);
      const messages = await readAll(sent);
      expect(messages.find(({ key }) => key === `agent-${agent.body.id}`)).toMatchObject({
        topic: `${topicPrefix}agents`,
        type: 'agent-platform.agent.created.v1',
        source: 'https://platform.example.com',
      });
      expect(messages.map(({ value }) => value).join()).not.toContain(CANARY);
    } finally {
      await platform.stop();
    }
  });

  it('says in bounded time that no broker answers, and gives no secret away', async () => {
    const { relay, logger, start } = relayWith({
      brokers: ['127.0.0.1:1'],
      sasl: { mechanism: 'plain', username: 'somebody', password: 'a-secret-word' },
    });
    await log.append(document(1), [added()], 'noStream');
    const run = await start();
    const took = ownTime();
    expect(await relay.health()).toMatchObject({ ok: false, reason: expect.any(String) as string });
    expect(took()).toBeLessThan(2_000);
    await until(() => relay.counts.failures > 0);
    await run.stop();
    expect(logger.lines.length).toBeGreaterThan(0);
    expect(logger.lines.join()).not.toContain('a-secret-word');
  });

  it('is read by the example of the documentation, which counts every event once though it was sent twice', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'consumer-'));
    const stateFile = join(folder, 'state.json');
    const consumer = startConsumer({
      KAFKA_BROKERS: servers,
      KAFKA_TOPIC_PREFIX: topicPrefix,
      KAFKA_GROUP: topicPrefix,
      STATE_FILE: stateFile,
    });
    const state = () =>
      existsSync(stateFile)
        ? (JSON.parse(readFileSync(stateFile, 'utf8')) as { documents: number; tokens: number })
        : { documents: 0, tokens: 0 };
    try {
      for (let id = 0; id < 50; id += 1) await log.append(document(id), [added(), renamed()], 'noStream');
      await log.append(
        'conversation-00000000-0000-7000-8000-000000000001',
        [started(), answered(), answered()],
        'noStream',
      );
      const usage = goldenData('AssistantMessageAdded', 1)['usage'] as { totalTokens: number };
      for (let times = 0; times < 2; times += 1) {
        const { relay, start } = relayWith();
        const run = await start();
        await until(() => relay.counts.published === 103);
        await run.stop();
        // As if the place had been lost: everything is sent again.
        await log.delete('policy-relay');
      }
      await readAll(206);
      await until(() => state().documents === 50 && state().tokens === 2 * usage.totalTokens);
      await until(async () => (await lagOf(topicPrefix)) === 0);
      expect(state()).toMatchObject({ documents: 50, tokens: 2 * usage.totalTokens });
    } finally {
      await ended(consumer);
      rmSync(folder, { recursive: true });
    }
  });

  /** Messages that a consumer group has not committed. */
  const lagOf = async (groupId: string): Promise<number> => {
    const topics = ['documents', 'conversations'].map((subject) => topicPrefix + subject);
    const committed = new Map(
      (await admin.fetchOffsets({ groupId, topics })).flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset }) => [`${topic}/${partition}`, Math.max(0, Number(offset))]),
      ),
    );
    const ends = await Promise.all(
      topics.map(async (topic) =>
        (await admin.fetchTopicOffsets(topic)).map(
          ({ partition, high }) => Number(high) - (committed.get(`${topic}/${partition}`) ?? 0),
        ),
      ),
    );
    return ends.flat().reduce((sum, behind) => sum + behind, 0);
  };
});

const startConsumer = (environment: Record<string, string>): ChildProcess =>
  spawn(process.execPath, [join(__dirname, '../../docs/integration-events/consumer.mjs')], {
    env: { ...process.env, ...environment },
    stdio: 'ignore',
  });

const ended = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });

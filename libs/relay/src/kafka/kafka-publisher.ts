import { Unavailable } from '@app/kernel';
import type { Admin, Producer } from 'kafkajs';
import type { Message, Publisher } from '../message';
import { type KafkaOptions, openKafka } from './open-kafka';

export interface KafkaPublisherOptions extends KafkaOptions, TopicShape {
  /** Made when they are missing. */
  readonly topics: readonly string[];
}

/** What one try to publish may take in all, the connection included. */
const PUBLISH_MS = 30_000;
const HEALTH_MS = 1_500;
/** How long the end of a connection is waited for. */
const CLOSE_MS = 3_000;
/** What brokers say of more at once than a topic takes (`max.message.bytes`, counted over a partition's part of it) or a segment holds. */
const TOO_LARGE: ReadonlySet<string> = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
/** Acknowledged by every replica that is in sync. */
const ALL = -1;

interface Connection {
  readonly producer: Producer;
  readonly admin: Admin;
}

/**
 * Publishes over one idempotent producer: the brokers know a batch that comes twice and one that comes out of order. After
 * a failure that its own retries did not settle the producer is thrown away, since its numbering cannot be trusted, and the
 * next batch goes out over a new one.
 */
export class KafkaPublisher implements Publisher {
  private connection: Promise<Connection> | undefined;
  private giveUp: (() => void) | undefined;
  /** Messages sent at once: fewer where the brokers took no more. */
  private mostAtOnce = Infinity;

  constructor(private readonly options: KafkaPublisherOptions) {}

  async publish(messages: readonly Message[]): Promise<void> {
    for (let sent = 0; sent < messages.length;) {
      const part = messages.slice(sent, sent + this.mostAtOnce);
      try {
        await this.send(part);
        sent += part.length;
      } catch (error) {
        if (part.length === 1 || !TOO_LARGE.has((error as Unavailable).reason)) throw error;
        this.mostAtOnce = Math.ceil(part.length / 2);
      }
    }
  }

  async health(): Promise<{ ok: boolean; reason?: string }> {
    try {
      await within(
        HEALTH_MS,
        this.connected().then(({ admin }) => admin.describeCluster()),
      );
      return { ok: true };
    } catch (error) {
      return { ok: false, reason: unavailable(error).reason };
    }
  }

  async close(): Promise<void> {
    this.giveUp?.();
    const connection = this.connection;
    this.connection = undefined;
    if (connection !== undefined)
      await within(CLOSE_MS, disconnect(connection)).catch((error: unknown) =>
        this.options.logger.warn({ error: nameOf(error) }, 'Connection to brokers did not close in time.'),
      );
  }

  private async send(messages: readonly Message[]): Promise<void> {
    const topicMessages = [...Map.groupBy(messages, ({ topic }) => topic)].map(([topic, ofTopic]) => ({
      topic,
      messages: ofTopic.map(({ key, value, headers }) => ({ key, value, headers })),
    }));
    try {
      const sent = this.connected().then(({ producer }) => producer.sendBatch({ topicMessages, acks: ALL }));
      const givenUp = new Promise<never>(
        (_resolve, reject) => (this.giveUp = () => reject(new Unavailable('kafka', 'closed', 'unknown'))),
      );
      await within(PUBLISH_MS, Promise.race([sent, givenUp]));
    } catch (error) {
      await this.close();
      throw unavailable(error);
    }
  }

  /** The connection, made when first needed. A failed one is forgotten, so that the next caller tries anew. */
  private connected(): Promise<Connection> {
    if (this.connection !== undefined) return this.connection;
    const connection = connect(this.options);
    this.connection = connection;
    connection.catch(() => {
      if (this.connection === connection) this.connection = undefined;
    });
    return connection;
  }
}

const connect = async (options: KafkaPublisherOptions): Promise<Connection> => {
  const kafka = await openKafka(options);
  const connection = { producer: kafka.producer(), admin: kafka.admin() };
  try {
    await connection.admin.connect();
    await ensureTopics(connection.admin, options.topics, options);
    await connection.producer.connect();
    return connection;
  } catch (error) {
    await disconnect(Promise.resolve(connection));
    throw error;
  }
};

const disconnect = async (connection: Promise<Connection>): Promise<void> => {
  // What failed to open was disconnected then, and its caller told.
  const opened = await connection.catch(() => undefined);
  await Promise.all([opened?.producer.disconnect(), opened?.admin.disconnect()]);
};

const within = async <T>(milliseconds: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Unavailable('kafka', 'no answer', 'unknown')), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Names and codes of kafkajs alone: its messages quote addresses and what brokers say. */
const unavailable = (error: unknown): Unavailable =>
  error instanceof Unavailable ? error : new Unavailable('kafka', nameOf(error), 'unknown', { cause: error });

const nameOf = (error: unknown): string => {
  const { name, type, code, cause } = error as {
    readonly name?: string;
    readonly type?: string;
    readonly code?: unknown;
    readonly cause?: unknown;
  };
  const detail = type ?? (typeof code === 'string' ? code : undefined);
  if (detail !== undefined) return detail;
  return cause === undefined ? (name ?? 'failed') : nameOf(cause);
};

interface TopicShape {
  readonly partitions: number;
  readonly replication: number;
}

/** Makes the topics that are missing; those that are there stay as they are. */
const ensureTopics = async (
  admin: Admin,
  topics: readonly string[],
  { partitions, replication }: TopicShape,
): Promise<void> => {
  const present = new Set(await admin.listTopics());
  const missing = topics.filter((topic) => !present.has(topic));
  if (missing.length === 0) return;
  // Answers false, without an error, when another process made them meanwhile. Waiting for leaders fails while brokers do
  // not know the topics yet; the first batch is tried again instead.
  await admin.createTopics({
    topics: missing.map((topic) => ({ topic, numPartitions: partitions, replicationFactor: replication })),
    waitForLeaders: false,
  });
};

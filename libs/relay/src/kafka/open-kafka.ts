import type { Logger } from '@app/kernel';
import type { Admin, logCreator, Producer, SASLOptions } from 'kafkajs';
import { partitionByKey } from './partitioner';

export interface KafkaOptions {
  /** `host:port` each. */
  readonly brokers: readonly string[];
  readonly ssl: boolean;
  readonly sasl?: SASLOptions;
  readonly logger: Logger;
}

const CLIENT = 'agent-platform';
const CONNECT_MS = 2_000;
const REQUEST_MS = 7_000;
/** Within one try to publish, and over before that is given up: kafkajs goes on trying on its own. The relay begins anew without end. */
const RETRY = { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 };

/** kafkajs as the relay uses it; imported only where brokers are configured. */
export const openKafka = async ({
  brokers,
  ssl,
  sasl,
  logger,
}: KafkaOptions): Promise<{ producer(): Producer; admin(): Admin }> => {
  const { Kafka, logLevel } = await import('kafkajs');
  const kafka = new Kafka({
    clientId: CLIENT,
    brokers: [...brokers],
    ssl,
    ...(sasl === undefined ? {} : { sasl }),
    connectionTimeout: CONNECT_MS,
    authenticationTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
    retry: RETRY,
    logLevel: logLevel.ERROR,
    logCreator: logInto(logger),
  });
  return {
    // One request at a time: the order of a key holds, also when the brokers ask for a request again.
    producer: () =>
      kafka.producer({
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: partitionByKey,
      }),
    admin: () => kafka.admin(),
  };
};

/** Passes on what kafkajs complains of, as warnings: the relay knows itself what is an error. Of its facts, those without secrets. */
const logInto =
  (logger: Logger): logCreator =>
  () =>
  ({ namespace, log: { message, broker } }) => {
    const facts = typeof broker === 'string' ? { broker } : {};
    logger.warn({ ...facts, from: namespace, said: message }, 'kafkajs');
  };

import type { SASLOptions } from 'kafkajs';
import { KafkaPublisher } from './kafka/kafka-publisher';
import { Relay, type RelayOptions } from './relay';

/** A relay to Kafka. */
export interface KafkaRelayOptions extends Omit<RelayOptions, 'publisher'> {
  /** `host:port` each (`KAFKA_BROKERS`). */
  readonly brokers: readonly string[];
  readonly ssl: boolean;
  readonly sasl?: SASLOptions;
  /** Of topics that are made; those that are there stay as they are. */
  readonly partitions: number;
  readonly replication: number;
}

/** A relay to Kafka. The brokers are reached for when it starts, not here. */
export const openRelay = ({ brokers, ssl, sasl, partitions, replication, ...options }: KafkaRelayOptions): Relay => {
  const topics = options.aggregates.subjects.map((subject) => options.topicPrefix + subject);
  return new Relay({
    ...options,
    publisher: new KafkaPublisher({
      brokers,
      ssl,
      ...(sasl === undefined ? {} : { sasl }),
      partitions,
      replication,
      topics,
      logger: options.logger,
    }),
  });
};

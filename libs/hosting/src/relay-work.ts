import type { Clock, Config, Logger } from '@app/kernel';
import { openRelay, type Relay } from '@app/relay';
import { aggregates } from './aggregates';
import type { Stores } from './open-stores';

export interface RelayWorkParts {
  readonly stores: Pick<Stores, 'log'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** CloudEvents `source` of an instance whose public address is not configured. */
const SOURCE = 'urn:agent-platform';

/** Sends integration events to the brokers of the configuration; undefined where it names none. */
export const relayWork = (config: Config, { stores, clock, logger }: RelayWorkParts): Relay | undefined => {
  const {
    KAFKA_BROKERS: brokers,
    KAFKA_SSL: ssl,
    KAFKA_PARTITIONS: partitions,
    KAFKA_REPLICATION: replication,
    KAFKA_TOPIC_PREFIX: topicPrefix,
    BASE_URL: source = SOURCE,
  } = config;
  if (brokers === undefined) return undefined;
  return openRelay({
    ...signIn(config),
    log: stores.log,
    aggregates,
    clock,
    logger,
    brokers,
    ssl,
    partitions,
    replication,
    topicPrefix,
    source,
  });
};

const signIn = ({
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_SASL_USERNAME: username = '',
  KAFKA_SASL_PASSWORD: password = '',
}: Config) => (mechanism === undefined ? {} : { sasl: { mechanism, username, password } });

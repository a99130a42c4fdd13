import { EVENT_LOG } from '@app/event-log';
import { Aggregates, CLOCK, CONFIG, type Config, LOGGER, provideWith } from '@app/kernel';
import { Policies } from '@app/projecting';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { openRelay } from './open-relay';
import { EVENT_RELAY, type Relay, type RelayOptions } from './relay';

type RelayParts = Pick<RelayOptions, 'log' | 'aggregates' | 'clock' | 'logger'> & { readonly config: Config };

/** CloudEvents `source` of an instance whose public address is not configured. */
const SOURCE = 'urn:agent-platform';

const relayTo = ({ config, ...parts }: RelayParts): Relay | undefined => {
  const {
    KAFKA_BROKERS: brokers,
    KAFKA_SSL: ssl,
    KAFKA_PARTITIONS: partitions,
    KAFKA_REPLICATION: replication,
    KAFKA_TOPIC_PREFIX: topicPrefix,
    BASE_URL: source = SOURCE,
  } = config;
  if (brokers === undefined) return undefined;
  return openRelay({ ...parts, ...signIn(config), brokers, ssl, partitions, replication, topicPrefix, source });
};

const signIn = ({
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_SASL_USERNAME: username = '',
  KAFKA_SASL_PASSWORD: password = '',
}: Config) => (mechanism === undefined ? {} : { sasl: { mechanism, username, password } });

/** Sends integration events to the brokers of `CONFIG`, beside the policies; `EVENT_RELAY` is undefined where it names none. */
@Module({
  providers: [
    provideWith(EVENT_RELAY, relayTo, {
      config: CONFIG,
      log: EVENT_LOG,
      aggregates: Aggregates,
      clock: CLOCK,
      logger: LOGGER,
    }),
  ],
  exports: [EVENT_RELAY],
})
export class RelayModule implements OnModuleInit {
  constructor(
    @Inject(EVENT_RELAY) private readonly relay: Relay | undefined,
    private readonly policies: Policies,
  ) {}

  onModuleInit(): void {
    if (this.relay !== undefined) this.policies.addReader(this.relay);
  }
}

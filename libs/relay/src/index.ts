export type { Message, Publisher } from './message';
export { type KafkaRelayOptions, openRelay } from './open-relay';
export { EVENT_RELAY, Relay } from './relay';
export { RelayModule } from './relay.module';

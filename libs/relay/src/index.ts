export type { Message, Publisher } from './message';
export { type KafkaRelayOptions, openRelay } from './open-relay';
export { Relay, type RelayCounts, type RelayOptions } from './relay';
export { RelayModule } from './relay.module';

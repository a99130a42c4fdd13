export type { Message } from './message';
export { type KafkaRelayOptions, openRelay } from './open-relay';
export type { Publisher } from './publisher';
export { Relay, type RelayCounts, type RelayOptions } from './relay';
export { RelayModule } from './relay.module';

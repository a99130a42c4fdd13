export { Connection } from './connection';
export { EventStoreLog } from './event-store-log';
export { EventStoreLogReader } from './log-reader';
export { Removals } from './removals';

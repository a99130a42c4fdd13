export * from './coordination-store';
export { Claims, type Release } from './claims';
export * from './declaration';
export type { LeaseGroup, LeaseShare } from './lease-share';
export { aloneLeases, Leases, type LeaseStatus, led } from './leases';
export { openMongoCoordinationStore } from './mongo/mongo-coordination-store';
export { Processes, type ProcessIdentity, type ProcessStatus } from './processes';
export type { Ask } from './requests';
export { openSqliteCoordinationStore } from './sqlite/sqlite-coordination-store';

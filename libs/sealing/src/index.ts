export * from './event-hash';
export * from './merkle';
export * from './removal';
export * from './seal';
export * from './seal-key';
export * from './sealed-place';
export * from './sealer';

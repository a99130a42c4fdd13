export * from './catalogue';
export * from './projections';
export * from './open-stores';
export * from './spawn-rebuild-worker';
export * from './tenancy-policies';
export * from './conversation-work';
export * from './knowledge-work';
export * from './erasure-work';

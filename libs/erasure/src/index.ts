export * from './erasure.aggregate';
export * from './erase-content.policy';
export * from './erasure.events';

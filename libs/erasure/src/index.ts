export * from './erasables';
export * from './erase-content.policy';
export * from './erasure.events';

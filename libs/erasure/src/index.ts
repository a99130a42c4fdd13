export * from './erasure.aggregate';
export * from './erase-content.policy';
export * from './erasure.events';
export { ErasureModule } from './erasure.module';
export * from './forget-erased';
export { ReapplyErasures } from './reapply-erasures-after-restore';

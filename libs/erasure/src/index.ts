export { ErasureModule } from './erasure.module';
export { ForgetErased } from './forget-erased';
export { ReapplyErasures } from './reapply-erasures-after-restore';

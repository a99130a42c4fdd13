export { SEAL_STREAM, isSealable } from './event-hash';
export { type EventHasher, hashedEvent } from './event-hasher';
export { exportLog } from './export/export-log';
export { prepareImport } from './export/import-export';
export { verifyExport } from './export/verify-export';
export { type Proof, proofOf } from './proof';
export { removalEvents, type Removal, removeEvents } from './removal';
export { type SealHead, sealEvents, headOf, sealHash, makeSeal, metaOfSeal } from './seal';
export { SealArchive } from './seal-archive';
export { SEAL_KEY, type SealKey, sealKeyOf } from './seal-key';
export { SealedOrdinals } from './sealed-ordinals';
export { sealOf, lastSigner, readSealedPlace } from './sealed-place';
export { Sealer } from './sealer';
export { EVENT_HASHERS, eventHashers } from './spawn-event-hasher';
export { unprovenEvents, type KnownUnproven, knownUnproven } from './unproven';
export { logSource } from './verify/log-source';
export { type NotedForeignEvent, foreignPage } from './verify/foreign-page';
export {
  type ForeignEvents,
  type Verification,
  type KnownSeal,
  knownSealText,
  parseKnownSeal,
} from './verify/verification';
export { type VerifyOptions, verify } from './verify/verify';
export type { ForeignItem, SourceItem, VerifySource } from './verify/verify-source';
export { verifyLog, verifyOpened } from './verify/verify-stores';
export { SealingModule } from './sealing.module';

import type { CoordinationStore } from '@app/coordination';
import { type EventLog, type EventMac, stampAppends } from '@app/event-log';
import { type Decisions, retry } from '@app/kernel';
import type { Models } from '@app/models';
import type { ReadStore } from '@app/read-store';
import { lastSigner, type SealKey } from '@app/sealing';
import type { SearchIndex } from '@app/search-index';
import type { Metrics } from '@app/telemetry';
import type { Vault } from '@app/vault';
import type { Logger } from 'pino';
import { assertWhole } from './missing-store';
import { asNewerReads } from './newer-reads';
import { observeModels, observeStores } from './observed';

/** Injection token of the stores once they may be used. */
export const PREPARED_STORES = Symbol('PreparedStores');

export interface StoresToPrepare {
  readonly log: EventLog;
  readonly vault: Vault;
  readonly readStore: ReadStore;
  readonly coordination: CoordinationStore;
  readonly searchIndex: SearchIndex;
  readonly decisions: Decisions;
  readonly models: Models;
  readonly mac: EventMac;
  readonly sealKey: SealKey;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Before anything is written: appends carry MACs from now on, are measured and traced. Throws `MissingStore` where a store was lost. */
export const prepareStores = async ({ mac, sealKey, metrics, logger, ...stores }: StoresToPrepare): Promise<true> => {
  const { log, models } = stores;
  const warn = (sentence: string): void => logger.warn(sentence);
  stampAppends(log, mac);
  if (log.readIndex !== undefined) asNewerReads(stores);
  await retry(() => assertWhole(stores), { warn });
  const signer = await retry(() => lastSigner(log), { warn });
  if (signer !== undefined && signer !== sealKey.keyId)
    logger.error(
      { signer, keyId: sealKey.keyId },
      "SEAL_KEY differs from the key of the last seal. Processes with different keys do not seal each other's events. Stop and start with the old key, unless you are changing it for all processes.",
    );
  observeStores(stores, metrics);
  observeModels(models);
  return true;
};

import { join } from 'node:path';
import { eventMacOf, stampAppends } from '@app/event-log';
import { eventCatalogue, openLog } from '@app/hosting';
import { Decisions, EventCodec, readConfig, systemClock } from '@app/kernel';
import { loadOrMakeKey, openVault } from '@app/vault';

/** The decisions of a platform that is stopped, over its log and vault in a folder; its keys are made where it has none. */
export const openDecisions = async (dataDir: string) => {
  const config = readConfig({ DATA_DIR: dataDir });
  const key = (name: string) =>
    loadOrMakeKey({ folder: join(dataDir, 'keys'), name, inUse: false, warn: () => undefined });
  const log = await openLog(config);
  stampAppends(log, eventMacOf(key('SEAL_KEY')));
  const vault = await openVault(config, key('VAULT_KEY'), systemClock);
  const close = async (): Promise<void> => {
    await vault.close();
    await log.close();
  };
  return { decisions: new Decisions(log, new EventCodec(eventCatalogue, vault)), close };
};

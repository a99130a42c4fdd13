import { type Blobs, openFileBlobs } from '@app/blobs';
import { type EventLog, openSqliteEventLog } from '@app/event-log';
import { type Clock, type Config, Decisions, EventCodec } from '@app/kernel';
import { openSqliteReadStore, type ReadStore } from '@app/read-store';
import { openSqliteSearchIndex, type SearchIndex } from '@app/search-index';
import { openSqliteVault, type Vault } from '@app/vault';
import { join } from 'node:path';
import { eventCatalogue } from './catalogue';

/** Everything the platform keeps, behind its ports. */
export interface Stores {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly searchIndex: SearchIndex;
  readonly vault: Vault;
  readonly blobs: Blobs;
  readonly codec: EventCodec;
  readonly decisions: Decisions;
  close(): Promise<void>;
}

/** Opens the stores of the embedded profile under `DATA_DIR`. The log comes first: it holds the lock against a second process. */
export const openStores = async (config: Config, vaultKey: string, clock: Clock): Promise<Stores> => {
  const folder = (name: string): string => join(config.DATA_DIR, name);
  const log = await openSqliteEventLog({ folder: folder('log') });
  const vault = await openSqliteVault({ folder: folder('vault'), wrappingKey: vaultKey, clock });
  const blobs = await openFileBlobs({ folder: folder('blobs'), vault });
  const readStore = await openSqliteReadStore({ folder: folder('views') });
  const searchIndex = await openSqliteSearchIndex({ folder: folder('search') });
  const codec = new EventCodec(eventCatalogue, vault);
  const close = async (): Promise<void> => {
    for (const store of [searchIndex, readStore, vault, log]) await store.close();
  };
  return { log, readStore, searchIndex, vault, blobs, codec, decisions: new Decisions(log, codec), close };
};

import { join } from 'node:path';
import { type Blobs, openBlobs } from '@app/blobs';
import {
  type EventLog,
  lockLogFolder,
  type LogReader,
  openLog as openEventLog,
  openLogReader as openEventLogReader,
} from '@app/event-log';
import { type Clock, type Closable, type Config, EventCodec, hasEmbeddedStore } from '@app/kernel';
import { openReadStore, type ReadStore } from '@app/read-store';
import { openSearchIndex, type SearchIndex } from '@app/search-index';
import { openVault } from '@app/vault';
import { eventCatalogue } from './aggregates';

/** What rebuilds need of the stores. */
export interface RebuildStores {
  readonly log: LogReader;
  readonly readStore: ReadStore;
  readonly searchIndex: SearchIndex;
  readonly blobs: Blobs;
  readonly codec: EventCodec;
  close(): Promise<void>;
}

/** What hashes of API keys and names are keyed with. It stands in the vault like a data key, so that another `VAULT_KEY` leaves it as it is. */
export const INSTANCE_SECRET = 'instance-secret';

/** A rebuild that waits for its stores cannot be stopped; it is begun again afterwards. */
const THREAD_MS = 60_000;

/** Opens the log of the configuration; events of other programs on its server are not shown. With `imports` for an import that may have been broken off. */
export const openLog = (config: Config, options: { readonly imports?: boolean } = {}): Promise<EventLog> =>
  openEventLog(config, eventCatalogue, options);

/** The same for those who only look, beside the process that writes it, too. With `evenIfUnsound` for those who look for damage. */
export const openLogReader = (config: Config, options: { readonly evenIfUnsound?: boolean } = {}): Promise<LogReader> =>
  openEventLogReader(config, eventCatalogue, options);

/** Opens the stores over connections of their own, for the thread that rebuilds, each on the server that its variable names, otherwise under `DATA_DIR`. */
export const openRebuildStores = async (config: Config, vaultKey: string, clock: Clock): Promise<RebuildStores> => {
  const log = await openLogReader(config);
  const vault = await openVault(config, vaultKey, clock, { timeoutMs: THREAD_MS });
  const blobs = await openBlobs(config, vault, { timeoutMs: THREAD_MS });
  const readStore = await openReadStore(config, { timeoutMs: THREAD_MS, inThread: true });
  const searchIndex = await openSearchIndex(config, { inThread: true });
  const close = async (): Promise<void> => {
    for (const store of [searchIndex, readStore, vault, log]) await store.close();
  };
  return { log, readStore, searchIndex, blobs, codec: new EventCodec(eventCatalogue, vault), close };
};

/** The embedded log locks itself. Beside a log on a server the embedded stores are locked here: they serve one process. */
export const lockEmbeddedStores = (config: Config): Closable => {
  const lock =
    config.EVENTSTORE_URL !== undefined && hasEmbeddedStore(config)
      ? lockLogFolder(join(config.DATA_DIR, 'lock'))
      : undefined;
  return { close: async () => lock?.release() };
};

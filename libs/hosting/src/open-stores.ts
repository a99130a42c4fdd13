import { join } from 'node:path';
import { type Blobs, openBlobs } from '@app/blobs';
import { type CoordinationStore, openCoordinationStore } from '@app/coordination';
import {
  type EventLog,
  type EventMac,
  lockLogFolder,
  type LogReader,
  openLog as openEventLog,
  openLogReader as openEventLogReader,
  stampAppends,
} from '@app/event-log';
import {
  type Clock,
  type Closable,
  type Config,
  Decisions,
  EventCodec,
  hasEmbeddedStore,
  type RetryOptions,
  type Warn,
} from '@app/kernel';
import { openReadStore, type ReadStore } from '@app/read-store';
import { openSearchIndex, type SearchIndex } from '@app/search-index';
import { openVault, type Vault } from '@app/vault';
import { eventCatalogue } from './aggregates';
import { asNewerReads } from './newer-reads';

/** Everything the platform keeps, behind its ports. */
export interface Stores {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly coordination: CoordinationStore;
  readonly searchIndex: SearchIndex;
  readonly vault: Vault;
  readonly blobs: Blobs;
  readonly codec: EventCodec;
  readonly decisions: Decisions;
  close(): Promise<void>;
}

/** What the stores are written with: the secret that wraps data keys, and what proves who appended. */
export interface WritingKeys {
  readonly vaultKey: string;
  readonly mac: EventMac;
}

/** What rebuilds need of the stores. */
export type RebuildStores = Pick<Stores, 'readStore' | 'searchIndex' | 'blobs' | 'codec' | 'close'> & {
  readonly log: LogReader;
};

/** What hashes of API keys and names are keyed with. It stands in the vault like a data key, so that another `VAULT_KEY` leaves it as it is. */
export const INSTANCE_SECRET = 'instance-secret';

const silent: Warn = () => undefined;

/** A rebuild that waits for its stores cannot be stopped; it is begun again afterwards. */
const THREAD_MS = 60_000;

type Opened = Pick<Stores, 'readStore' | 'searchIndex' | 'vault' | 'blobs' | 'codec'>;

/** Opens the log of the configuration; events of other programs on its server are not shown. With `imports` for an import that may have been broken off. */
export const openLog = (config: Config, options: { readonly imports?: boolean } = {}): Promise<EventLog> =>
  openEventLog(config, eventCatalogue, options);

/** The same for those who only look, beside the process that writes it, too. With `evenIfUnsound` for those who look for damage. */
export const openLogReader = (config: Config, options: { readonly evenIfUnsound?: boolean } = {}): Promise<LogReader> =>
  openEventLogReader(config, eventCatalogue, options);

/**
 * Opens the other stores beside a log, each on the server that its variable names, otherwise under `DATA_DIR`. From
 * then on appends to the log carry MACs. Waits ten minutes for servers that are away. `close` closes the log too, and
 * so does a failure.
 */
export const openStores = async (
  config: Config,
  log: EventLog,
  { vaultKey, mac }: WritingKeys,
  clock: Clock,
  warn = silent,
): Promise<Stores> => {
  let lock: Closable | undefined;
  stampAppends(log, mac);
  try {
    lock = lockEmbeddedStores(config);
    const opened = await open(config, vaultKey, clock, { warn }, false);
    const coordination = await openCoordinationStore(config, { warn });
    if (log.readIndex !== undefined) asNewerReads({ ...opened, coordination });
    const closeAll = async (): Promise<void> => {
      await coordination.close();
      await close(opened, log);
      await lock?.close();
    };
    return { ...opened, coordination, log, decisions: new Decisions(log, opened.codec), close: closeAll };
  } catch (error) {
    await log.close();
    await lock?.close();
    throw error;
  }
};

/** The same stores over connections of their own, for the thread that rebuilds. */
export const openRebuildStores = async (config: Config, vaultKey: string, clock: Clock): Promise<RebuildStores> => {
  const log = await openLogReader(config);
  const opened = await open(config, vaultKey, clock, { timeoutMs: THREAD_MS }, true);
  return { ...opened, log, close: () => close(opened, log) };
};

const open = async (config: Config, vaultKey: string, clock: Clock, options: RetryOptions, inThread: boolean) => {
  const vault = await openVault(config, vaultKey, clock, options);
  const blobs = await openBlobs(config, vault, options);
  const readStore = await openReadStore(config, { ...options, inThread });
  const searchIndex = await openSearchIndex(config, { ...options, inThread });
  return { vault, blobs, readStore, searchIndex, codec: new EventCodec(eventCatalogue, vault) };
};

const close = async ({ searchIndex, readStore, vault }: Opened, log: LogReader): Promise<void> => {
  for (const store of [searchIndex, readStore, vault, log]) await store.close();
};

/** The embedded log locks itself. Beside a log on a server the embedded stores are locked here: they serve one process. */
export const lockEmbeddedStores = (config: Config): Closable => {
  const lock =
    config.EVENTSTORE_URL !== undefined && hasEmbeddedStore(config)
      ? lockLogFolder(join(config.DATA_DIR, 'lock'))
      : undefined;
  return { close: async () => lock?.release() };
};

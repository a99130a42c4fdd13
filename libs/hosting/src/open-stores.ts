import { join } from 'node:path';
import { type Blobs, openFileBlobs, openS3Blobs } from '@app/blobs';
import { type CoordinationStore, openMongoCoordinationStore, openSqliteCoordinationStore } from '@app/coordination';
import {
  type EventLog,
  type EventMac,
  type EventStoreOptions,
  type FolderLock,
  type LogReader,
  lockLogFolder,
  openEventStoreLog,
  openEventStoreLogReader,
  openSqliteEventLog,
  openSqliteLogReader,
  stampAppends,
} from '@app/event-log';
import { type Clock, type Config, Decisions, EventCodec, hasEmbeddedStore, patiently, type Warn } from '@app/kernel';
import { openMongoReadStore, openSqliteReadStore, type ReadStore } from '@app/read-store';
import { openElasticsearchIndex, openSqliteSearchIndex, type SearchIndex } from '@app/search-index';
import { openMongoVault, openSqliteVault, type Vault } from '@app/vault';
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
export interface InstanceKeys {
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

/** Opens the log: on the server that `EVENTSTORE_URL` names, else under `DATA_DIR`, which then is this process's alone. */
export const openLog = (config: Config): Promise<EventLog> =>
  config.EVENTSTORE_URL === undefined
    ? openSqliteEventLog({ folder: folderOf(config, 'log') })
    : openEventStoreLog(onServer(config.EVENTSTORE_URL));

/** Opens the log for those who only look: beside the process that writes it, too. With `evenIfUnsound` for those who look for damage. */
export const openLogReader = (
  config: Config,
  options: { readonly evenIfUnsound?: boolean } = {},
): Promise<LogReader> =>
  config.EVENTSTORE_URL === undefined
    ? openSqliteLogReader({ folder: folderOf(config, 'log'), ...options })
    : openEventStoreLogReader(onServer(config.EVENTSTORE_URL));

/** Others may write to the server, too; nobody but us writes the embedded log. */
const onServer = (url: string): EventStoreOptions => ({ url, ours: eventCatalogue });

/** Opens the other stores beside a log, whose appends carry MACs from then on, each on the server that its variable names, else under `DATA_DIR`. Waits ten minutes for servers that are away. `close` closes the log too, and so does a failure. */
export const openStores = async (
  config: Config,
  log: EventLog,
  { vaultKey, mac }: InstanceKeys,
  clock: Clock,
  warn = silent,
): Promise<Stores> => {
  let lock: FolderLock | undefined;
  stampAppends(log, mac);
  try {
    lock = lockOf(config);
    const opened = await open(config, vaultKey, clock, warn, false);
    const coordination = await openCoordinationStore(config, warn);
    if (log.readIndex !== undefined) asNewerReads({ ...opened, coordination });
    const closeAll = async (): Promise<void> => {
      await coordination.close();
      await close(opened, log);
      lock?.release();
    };
    return { ...opened, coordination, log, decisions: new Decisions(log, opened.codec), close: closeAll };
  } catch (error) {
    await log.close();
    lock?.release();
    throw error;
  }
};

/** The same stores over connections of their own, for the thread that rebuilds. */
export const openRebuildStores = async (config: Config, vaultKey: string, clock: Clock): Promise<RebuildStores> => {
  const log = await openLogReader(config);
  const opened = await open(config, vaultKey, clock, silent, true);
  return { ...opened, log, close: () => close(opened, log) };
};

const open = async (config: Config, vaultKey: string, clock: Clock, warn: Warn, inThread: boolean): Promise<Opened> => {
  const patienceMs = inThread ? THREAD_MS : undefined;
  const vault = await openVault(config, vaultKey, clock, warn, patienceMs);
  const blobs = await openBlobs(config, vault, warn, patienceMs);
  const readStore = await openReadStore(config, warn, inThread, patienceMs);
  const searchIndex = await openSearchIndex(config, warn, inThread);
  return { vault, blobs, readStore, searchIndex, codec: new EventCodec(eventCatalogue, vault) };
};

const close = async ({ searchIndex, readStore, vault }: Opened, log: LogReader): Promise<void> => {
  for (const store of [searchIndex, readStore, vault, log]) await store.close();
};

export const openVault = (
  { MONGODB_URL: url, ...config }: Config,
  wrappingKey: string,
  clock: Clock,
  warn = silent,
  patienceMs?: number,
): Promise<Vault> =>
  url === undefined
    ? openSqliteVault({ folder: folderOf(config, 'vault'), wrappingKey, clock })
    : patiently(() => openMongoVault({ url, wrappingKey, clock }), { warn, patienceMs });

export const openBlobs = (
  { S3_URL: url, ...config }: Config,
  vault: Vault,
  warn = silent,
  patienceMs?: number,
): Promise<Blobs> =>
  url === undefined
    ? openFileBlobs({ folder: folderOf(config, 'blobs'), vault })
    : patiently(() => openS3Blobs({ url, vault }), { warn, patienceMs });

const openReadStore = (
  { MONGODB_URL: url, ...config }: Config,
  warn: Warn,
  inThread: boolean,
  patienceMs?: number,
): Promise<ReadStore> =>
  url === undefined
    ? openSqliteReadStore({ folder: folderOf(config, 'views'), inThread, warn })
    : patiently(() => openMongoReadStore({ url }), { warn, patienceMs });

/** What processes agree on stands where the views do. */
const openCoordinationStore = ({ MONGODB_URL: url, ...config }: Config, warn: Warn): Promise<CoordinationStore> =>
  url === undefined
    ? openSqliteCoordinationStore({ folder: folderOf(config, 'views') })
    : patiently(() => openMongoCoordinationStore({ url }), { warn });

/** Elasticsearch is not waited for: it may come later. */
const openSearchIndex = (
  { ELASTICSEARCH_URL: url, ...config }: Config,
  warn: Warn,
  inThread: boolean,
): Promise<SearchIndex> =>
  url === undefined
    ? openSqliteSearchIndex({ folder: folderOf(config, 'search'), inThread, warn })
    : openElasticsearchIndex({ url });

const folderOf = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>, name: string): string => join(DATA_DIR, name);

/** The embedded log locks itself. Beside a log on a server the embedded stores are locked here: they serve one process. */
const lockOf = (config: Config): FolderLock | undefined =>
  config.EVENTSTORE_URL !== undefined && hasEmbeddedStore(config) ? lockLogFolder(folderOf(config, 'lock')) : undefined;

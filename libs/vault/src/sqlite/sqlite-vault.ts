import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import {
  type Calls,
  callThread,
  type Clock,
  type DataKey,
  DomainError,
  Grouped,
  isUnavailable,
  type KeyOwner,
  type KeySelector,
  startThread,
  systemClock,
  Unavailable,
} from '@app/kernel';
import { LRUCache } from 'lru-cache';
import { checkRecords, unwrapKey, wrappingKeyOf } from '../key-wrapping';
import type { DestroyedKey, KeyRecord, Vault } from '../vault';
import { NO_KEY, NOTE, openVaultDatabase, vaultFile } from './vault-database';
import type { EnsureRequest, VaultWriter } from './vault-writer';

export interface SqliteVaultOptions {
  /** Folder of the vault's file, `DATA_DIR/vault`. */
  readonly folder: string;
  /** The text of `VAULT_KEY`. */
  readonly wrappingKey: string;
  readonly clock?: Clock;
}

const CACHED_KEYS = 50_000;
const RECORDS_AT_ONCE = 1_000;

interface Placed {
  readonly place: number;
}

interface DestroyedRow extends Placed {
  readonly stream: string;
  readonly at: string;
  readonly cause: string;
}

interface KeyRow extends Placed {
  readonly stream: string;
  readonly userId: string | null;
  readonly spaceId: string | null;
  readonly wrapped: Buffer;
}

/** Opens or makes the vault of a folder. Throws a sentence when `VAULT_KEY` is not the one it was made with. */
export const openSqliteVault = async (options: SqliteVaultOptions): Promise<Vault> => new SqliteVault(options);

/**
 * Writes go through one thread and are grouped into durable transactions; reads are made here. Several instances (threads,
 * processes) may share a vault: each notices the destructions of the others before it hands out a remembered key.
 */
class SqliteVault implements Vault {
  private readonly database: Database.Database;
  private readonly wrappingKey: Buffer;
  private readonly writer: Calls<VaultWriter>;
  private readonly clock: Clock;
  private readonly cache = new LRUCache<string, DataKey>({ max: CACHED_KEYS });
  private readonly selectKey: Database.Statement<[string], Buffer>;
  private readonly selectVersion: Database.Statement<[], number>;
  private readonly made: Grouped<EnsureRequest, undefined>;
  private readonly destroyedKeys: Grouped<KeySelector, readonly string[]>;
  /** In one transaction: the file is locked once, not for each key. */
  private readonly readInto: (found: Map<string, DataKey>, streams: readonly string[]) => void;
  private dataVersion: number | undefined;
  /** The last write failed, as on a full disk. */
  private failsToWrite = false;
  private buriedUpTo: number;

  constructor({ folder, wrappingKey, clock }: SqliteVaultOptions) {
    this.wrappingKey = wrappingKeyOf(wrappingKey);
    openVaultDatabase(folder, this.wrappingKey).close();
    this.database = new Database(vaultFile(folder), { readonly: true, timeout: 10_000 });
    this.selectKey = this.database
      .prepare<[string], Buffer>('SELECT wrapped FROM keys WHERE thing = ?')
      .pluck() as Database.Statement<[string], Buffer>;
    this.readInto = this.database.transaction((found: Map<string, DataKey>, streams: readonly string[]) => {
      for (const stream of streams) {
        const key = this.find(stream);
        if (key !== undefined) found.set(stream, key);
      }
    });
    this.selectVersion = this.database.prepare<[], number>('PRAGMA data_version').pluck() as Database.Statement<
      [],
      number
    >;
    this.buriedUpTo = this.database.prepare('SELECT COALESCE(MAX(seq), 0) FROM destroyed').pluck().get() as number;
    const workerData = { folder, wrappingKey: this.wrappingKey };
    this.writer = callThread('vault', () => startThread(__dirname, 'vault.thread', __filename, { workerData }), [
      Unavailable,
    ]);
    this.clock = clock ?? systemClock;
    this.made = new Grouped(async (requests) => {
      await this.written(this.writer.call('ensure', requests));
      return requests.map(() => undefined);
    });
    this.destroyedKeys = new Grouped((selectors) =>
      this.written(this.writer.call('destroy', selectors, this.clock.now().toISOString())),
    );
  }

  async ensureKey(stream: string, owner: KeyOwner): Promise<DataKey> {
    this.forgetDestroyed();
    const present = this.find(stream);
    if (present !== undefined) return present;
    await this.made.join({ stream, owner });
    // Read anew, not handed over by the thread: a destruction may have come in between.
    this.forgetDestroyed();
    const made = this.find(stream);
    if (made === undefined) throw new DomainError('not_found');
    return made;
  }

  async keys(streams: readonly string[]): Promise<ReadonlyMap<string, DataKey>> {
    const found = new Map<string, DataKey>();
    const unread: string[] = [];
    this.forgetDestroyed();
    for (const stream of streams) {
      const cached = this.cache.get(stream);
      if (cached === undefined) unread.push(stream);
      else found.set(stream, cached);
    }
    if (unread.length > 0) this.readInto(found, unread);
    return found;
  }

  async destroy(selector: KeySelector): Promise<readonly string[]> {
    return this.destroyedKeys.join(selector);
  }

  async streams({ userId, spaceId }: KeyOwner): Promise<readonly string[]> {
    const conditions = [
      userId === undefined ? '' : ' AND user_id = @userId',
      spaceId === undefined ? '' : ' AND space_id = @spaceId',
    ].join('');
    if (conditions === '') return [];
    const statement = this.database
      .prepare(
        `SELECT thing AS stream FROM keys WHERE wrapped <> @none AND instr(thing, '/') = 0${conditions} ORDER BY thing`,
      )
      .pluck();
    return statement.all({ none: NO_KEY, userId, spaceId }) as string[];
  }

  async destroyed(after: string | null, limit: number): Promise<readonly DestroyedKey[]> {
    return this.database
      .prepare('SELECT thing AS stream, at FROM destroyed WHERE thing > ? ORDER BY thing LIMIT ?')
      .all(after ?? '', limit) as DestroyedKey[];
  }

  async *records(): AsyncGenerator<KeyRecord> {
    const owners = this.database.prepare('SELECT owner, at FROM destroyed_owners ORDER BY owner').all() as {
      owner: string;
      at: string;
    }[];
    yield* owners.map((owner) => ({ kind: 'destroyedOwner', ...owner }) as const);
    for await (const page of this.pages<DestroyedRow>(
      'SELECT seq AS place, thing AS stream, at, cause FROM destroyed WHERE seq > ? ORDER BY seq LIMIT ?',
    )) {
      yield* page.map(({ stream, at, cause }) => ({ kind: 'destroyed', stream, at, cause }) as const);
    }
    for await (const page of this.pages<KeyRow>(
      'SELECT id AS place, thing AS stream, user_id AS userId, space_id AS spaceId, wrapped FROM keys WHERE id > ? ORDER BY id LIMIT ?',
    )) {
      yield* page.filter(({ wrapped }) => !wrapped.equals(NO_KEY)).map(keyRecordOf);
    }
  }

  async merge(records: readonly KeyRecord[]): Promise<{ erased: number }> {
    checkRecords(records, this.wrappingKey);
    return { erased: await this.written(this.writer.call('merge', records)) };
  }

  async note(): Promise<string | undefined> {
    const noted = this.database.prepare('SELECT value FROM vault WHERE name = ?').pluck().get(NOTE);
    return (noted as Buffer | undefined)?.toString('utf8');
  }

  async setNote(text: string): Promise<void> {
    await this.written(this.writer.call('note', text));
  }

  async health(): Promise<{ ok: boolean; reason?: string }> {
    try {
      this.forgetDestroyed();
      // Nobody may be writing any more, since that failed.
      if (this.failsToWrite) await this.written(this.writer.call('tryWriting'));
      return { ok: true };
    } catch (error) {
      if (isUnavailable(error)) return { ok: false, reason: error.reason };
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async close(): Promise<void> {
    await this.writer.close();
    this.database.close();
    this.cache.clear();
  }

  /** Remembers whether writing failed, so that `health` reports it. */
  private async written<T>(write: Promise<T>): Promise<T> {
    try {
      const answer = await write;
      this.failsToWrite = false;
      return answer;
    } catch (error) {
      this.failsToWrite = true;
      throw error;
    }
  }

  /** Rows by their place, a page in each turn, so that writers and other readers are not held up. */
  private async *pages<R extends Placed>(statement: string): AsyncGenerator<readonly R[]> {
    const select = this.database.prepare(statement);
    for (let after = 0; ; await nextTurn()) {
      const page = select.all(after, RECORDS_AT_ONCE) as R[];
      yield page;
      after = page.at(-1)?.place ?? after;
      if (page.length < RECORDS_AT_ONCE) return;
    }
  }

  private find(stream: string): DataKey | undefined {
    const cached = this.cache.get(stream);
    if (cached !== undefined) return cached;
    const wrapped = this.selectKey.get(stream);
    if (wrapped === undefined || wrapped.equals(NO_KEY)) return undefined;
    const key = unwrapKey(this.wrappingKey, stream, wrapped);
    this.cache.set(stream, key);
    return key;
  }

  /** `data_version` changes whenever another connection has committed; only then the tombstones are read. */
  private forgetDestroyed(): void {
    const version = this.selectVersion.get();
    if (version === this.dataVersion) return;
    const buried = this.database
      .prepare('SELECT seq, thing AS stream FROM destroyed WHERE seq > ? ORDER BY seq')
      .all(this.buriedUpTo) as { seq: number; stream: string }[];
    for (const { seq, stream } of buried) {
      this.cache.delete(stream);
      this.buriedUpTo = seq;
    }
    this.dataVersion = version;
  }
}

const keyRecordOf = ({ stream, userId, spaceId, wrapped }: KeyRow): KeyRecord => ({
  kind: 'key',
  stream,
  owner: { ...(userId === null ? {} : { userId }), ...(spaceId === null ? {} : { spaceId }) },
  wrapped: wrapped.toString('base64'),
});

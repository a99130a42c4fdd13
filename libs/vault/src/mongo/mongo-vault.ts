import {
  type Clock,
  type DataKey,
  dataKeyPlace,
  DomainError,
  Grouped,
  type KeyOwner,
  type KeySelector,
  type RetryOptions,
  retry,
  systemClock,
} from '@app/kernel';
import { LRUCache } from 'lru-cache';
import { type MongoServer, openMongoServer } from '@app/read-store';
import { WrongVaultKey } from '../key-files';
import { checkRecords, unwrapKey, wrapKey, wrappingKeyOf } from '../key-wrapping';
import type { DestroyedKey, KeyRecord, Vault } from '../vault';
import { type KeyDocument, type VaultModels, vaultModelsOf } from './vault-documents';
import { type EnsureRequest, VaultWrites } from './vault-writes';

export interface MongoVaultOptions {
  /** `mongodb://` or `mongodb+srv://`. Keys are in a database of their own, `<database>_vault`; the database is `platform` where it names none. */
  readonly url: string;
  /** The text of `VAULT_KEY`. */
  readonly wrappingKey: string;
  readonly clock?: Clock;
}

const CACHED_KEYS = 50_000;
const RECORDS_AT_ONCE = 1_000;
/**
 * How long a key is remembered at most. Destructions are noticed before any remembered key is handed out; this bounds what a
 * process can miss when the one that destroys dies between taking the keys away and counting it, before it has answered.
 */
const REMEMBERED_MS = 60_000;

/** Opens or makes the vault on a server. Throws a sentence when `VAULT_KEY` is not the one it was made with, `Unavailable` when nothing answers. */
export const openMongoVault = async ({ url, wrappingKey, clock = systemClock }: MongoVaultOptions): Promise<Vault> => {
  const server = await openMongoServer({ url, suffix: '_vault', dependency: 'vault' });
  try {
    const models = await vaultModelsOf(server);
    const key = wrappingKeyOf(wrappingKey);
    await checkWrappingKey(server, models, key);
    return new MongoVault(server, models, key, clock);
  } catch (error) {
    await server.close();
    throw error;
  }
};

/** A key of no stream, made with the vault: it tells a wrong `VAULT_KEY` from a damaged vault before anything is read. */
const checkWrappingKey = async (server: MongoServer, { vault }: VaultModels, key: Buffer): Promise<void> => {
  const made = wrapKey(key, '', Buffer.alloc(32)).toString('base64');
  await server.write(() => vault.updateOne({ _id: 'check' }, { $setOnInsert: { wrapped: made } }, { upsert: true }));
  const check = await server.read(() => vault.findById('check').lean());
  try {
    unwrapKey(key, '', Buffer.from(check?.wrapped ?? '', 'base64'));
  } catch (error) {
    throw new WrongVaultKey(
      'VAULT_KEY is not the key that the vault on MongoDB was made with: give the right one, or nothing encrypted can be read',
      { cause: error },
    );
  }
};

/** Any number of processes may share a vault. Each checks for destructions by others before it hands out a remembered key. */
class MongoVault implements Vault {
  private readonly writes: VaultWrites;
  private readonly made: Grouped<EnsureRequest, undefined>;
  private readonly destroyedKeys: Grouped<KeySelector, readonly string[]>;
  private readonly looks: Grouped<void, void>;
  private remembered = new LRUCache<string, DataKey>({ max: CACHED_KEYS });
  /**
   * Keys that most servers hold. Any other, which was read while it was being made, may be gone with the primary that gave it: what
   * is encrypted with it could never be read again.
   */
  private readonly lasting = new WeakSet<DataKey>();
  private rememberedSince = performance.now();
  private destructions = 0;

  constructor(
    private readonly server: MongoServer,
    private readonly models: VaultModels,
    private readonly wrappingKey: Buffer,
    private readonly clock: Clock,
  ) {
    this.writes = new VaultWrites(server, models, wrappingKey);
    this.made = new Grouped(async (requests) => {
      await this.writes.ensure(requests);
      return requests.map(() => undefined);
    });
    this.destroyedKeys = new Grouped((selectors) => this.writes.destroy(selectors, this.clock.now().toISOString()));
    this.looks = new Grouped(async (callers) => {
      await this.forgetDestroyed();
      return callers;
    });
  }

  async ensureKey(stream: string, owner: KeyOwner): Promise<DataKey> {
    const present = (await this.keys([stream])).get(stream);
    if (present !== undefined && this.lasting.has(present)) return present;
    const lasting = present && (await this.read([stream], { isLasting: true })).get(stream);
    if (lasting !== undefined) return lasting;
    await this.made.join({ stream, owner });
    // It may be another one than was remembered.
    this.remembered.delete(stream);
    const made = (await this.keys([stream])).get(stream);
    if (made === undefined) throw new DomainError('not_found');
    this.lasting.add(made);
    return made;
  }

  async keys(streams: readonly string[]): Promise<ReadonlyMap<string, DataKey>> {
    if (streams.length === 0) return new Map();
    await this.looks.join();
    const { remembered } = this;
    const found = new Map<string, DataKey>();
    const missing: string[] = [];
    for (const stream of streams) {
      const key = remembered.get(stream);
      if (key === undefined) missing.push(stream);
      else found.set(stream, key);
    }
    if (missing.length === 0) return found;
    for (const [stream, key] of await this.read(missing)) found.set(stream, key);
    return found;
  }

  destroy(selector: KeySelector): Promise<readonly string[]> {
    return this.destroyedKeys.join(selector);
  }

  async streams({ userId, spaceId }: KeyOwner): Promise<readonly string[]> {
    if (userId === undefined && spaceId === undefined) return [];
    const found = await this.server.read(() =>
      this.models.keys
        .find({ ...ownerOf(userId, spaceId), wrapped: { $exists: true } }, { _id: 1 })
        .sort({ _id: 1 })
        .lean(),
    );
    return found.map(({ _id }) => _id).filter((name) => dataKeyPlace(name).entity === undefined);
  }

  async destroyed(after: string | null, limit: number): Promise<readonly DestroyedKey[]> {
    const found = await this.server.read(() =>
      this.models.keys
        .find({ _id: { $gt: after ?? '' }, cause: { $exists: true } }, { destroyedAt: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean(),
    );
    return found.map(({ _id, destroyedAt = '' }) => ({ stream: _id, at: destroyedAt }));
  }

  async *records(options: RetryOptions = { timeoutMs: 0 }): AsyncGenerator<KeyRecord> {
    const owners = await retry(
      () => this.server.read(() => this.models.destroyedOwners.find().sort({ _id: 1 }).lean()),
      options,
    );
    yield* owners.map(({ _id, destroyedAt }) => ({ kind: 'destroyedOwner', owner: _id, at: destroyedAt }) as const);
    for await (const { _id, destroyedAt = '', cause = '' } of this.each({ cause: { $exists: true } }, options))
      yield { kind: 'destroyed', stream: _id, at: destroyedAt, cause };
    for await (const { _id, wrapped = '', userId, spaceId } of this.each({ wrapped: { $exists: true } }, options))
      yield { kind: 'key', stream: _id, owner: ownerOf(userId, spaceId), wrapped };
  }

  async merge(records: readonly KeyRecord[]): Promise<{ readonly erased: number }> {
    checkRecords(records, this.wrappingKey);
    return { erased: await this.writes.merge(records) };
  }

  async note(): Promise<string | undefined> {
    return (await this.server.read(() => this.models.vault.findById('note').lean()))?.text;
  }

  async setNote(text: string): Promise<void> {
    await this.server.write(() => this.models.vault.updateOne({ _id: 'note' }, { $set: { text } }, { upsert: true }));
  }

  health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    return this.server.health();
  }

  async close(): Promise<void> {
    this.remembered.clear();
    await this.server.close();
  }

  /** Key documents in the order of streams, read in pages. */
  private async *each(
    filter: { readonly [Field in 'cause' | 'wrapped']?: { readonly $exists: true } },
    options: RetryOptions,
  ): AsyncGenerator<KeyDocument> {
    for (let after = ''; ;) {
      const page = await retry(
        () =>
          this.server.read(() =>
            this.models.keys
              .find({ ...filter, _id: { $gt: after } })
              .sort({ _id: 1 })
              .limit(RECORDS_AT_ONCE)
              .lean(),
          ),
        options,
      );
      yield* page;
      if (page.length < RECORDS_AT_ONCE) return;
      after = page.at(-1)?._id ?? after;
    }
  }

  /** Reads keys that exist. `isLasting`: those alone that most servers hold, so that they outlast the primary. */
  private async read(streams: readonly string[], { isLasting = false } = {}): Promise<ReadonlyMap<string, DataKey>> {
    // What is read from here on goes into this memory only: after a destruction there is another.
    const { remembered } = this;
    const found = await this.server.read(() => {
      const keys = this.models.keys.find({ _id: { $in: streams }, wrapped: { $exists: true } }, { wrapped: 1 });
      return (isLasting ? keys.readConcern('majority') : keys).lean();
    });
    return new Map(
      found.map(({ _id, wrapped }) => {
        const key = unwrapKey(this.wrappingKey, _id, Buffer.from(wrapped ?? '', 'base64'));
        remembered.set(_id, key);
        if (isLasting) this.lasting.add(key);
        return [_id, key];
      }),
    );
  }

  private async forgetDestroyed(): Promise<void> {
    const found = await this.server.read(() => this.models.vault.findById('destructions').lean());
    const destructions = found?.count ?? 0;
    if (destructions === this.destructions && performance.now() - this.rememberedSince < REMEMBERED_MS) return;
    this.destructions = destructions;
    this.remembered = new LRUCache({ max: CACHED_KEYS });
    this.rememberedSince = performance.now();
  }
}

const ownerOf = (userId: string | undefined, spaceId: string | undefined): KeyOwner => ({
  ...(userId === undefined ? {} : { userId }),
  ...(spaceId === undefined ? {} : { spaceId }),
});

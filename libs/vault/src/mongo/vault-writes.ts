import { randomBytes } from 'node:crypto';
import { dataKeyPlace, type KeyOwner, type KeySelector } from '@app/kernel';
import { areDuplicateKeys, type MongoServer } from '@app/read-store';
import type { Model, mongo } from 'mongoose';
import { wrapKey } from '../key-wrapping';
import type { KeyRecord } from '../vault';
import type { KeyDocument, VaultModels } from './vault-documents';

export interface EnsureRequest {
  readonly stream: string;
  readonly owner: KeyOwner;
}

/** The writes of a vault. Each is independent and may be repeated, so no transactions are needed. */
export class VaultWrites {
  constructor(
    private readonly server: MongoServer,
    private readonly models: VaultModels,
    private readonly wrappingKey: Buffer,
  ) {}

  /** Creates missing keys: of an entity also that of its stream, whose owner it has. Skips destroyed ones. */
  async ensure(requests: readonly EnsureRequest[]): Promise<void> {
    const gone = await this.goneOwners(requests);
    const wanted = requests.filter(({ owner }) => !belongsTo(owner, gone));
    const newKey = (name: string, owner: KeyOwner) => ({
      stream: name,
      owner,
      wrapped: wrapKey(this.wrappingKey, name, randomBytes(32)).toString('base64'),
    });
    await this.take(wanted.map(({ stream: name, owner }) => newKey(dataKeyPlace(name).stream, owner)));
    const entities = wanted.filter(({ stream: name }) => dataKeyPlace(name).entity !== undefined);
    if (entities.length === 0) return;
    const owners = await this.ownersOf(entities.map(({ stream: name }) => dataKeyPlace(name).stream));
    await this.take(
      entities.flatMap(({ stream: name }) => {
        const owner = owners.get(dataKeyPlace(name).stream);
        return owner === undefined ? [] : [newKey(name, owner)];
      }),
    );
  }

  /** Imports what another vault knows. Answers how many of its keys stay destroyed here. */
  async merge(records: readonly KeyRecord[]): Promise<number> {
    // What was noted of other keys does not hold of these.
    await this.server.write(() => this.models.vault.deleteOne({ _id: 'note' }));
    await this.buryOwners(records.flatMap((record) => (record.kind === 'destroyedOwner' ? [record] : [])));
    const destroyed = records.flatMap((record) => (record.kind === 'destroyed' ? [record] : []));
    await this.writeKeys(destroyed.map(({ stream, cause, at }) => destructionOf({ _id: stream }, cause, at)));
    await this.writeKeys(destroyed.flatMap(({ stream, cause, at }) => destructionBelow(stream, cause, at)));
    if (destroyed.length > 0) await this.countDestruction();
    const keys = records.flatMap((record) => (record.kind === 'key' ? [record] : []));
    await this.take(keys);
    return this.server.read(() =>
      this.models.keys.countDocuments({ _id: { $in: keys.map(({ stream }) => stream) }, wrapped: { $exists: false } }),
    );
  }

  /** Destroys keys and counts it, so that every process forgets what it remembers. Answers the streams of each selector. */
  async destroy(selectors: readonly KeySelector[], at: string): Promise<readonly (readonly string[])[]> {
    await this.buryOwners(
      selectors.flatMap((selector) => ('stream' in selector ? [] : [{ owner: causeOf(selector), at }])),
    );
    await this.writeKeys(
      selectors.map((selector) =>
        destructionOf('stream' in selector ? { _id: selector.stream } : selector, causeOf(selector), at),
      ),
    );
    // Behind the tombstones: whoever looks for that of a stream after making a key of an entity misses none.
    await this.writeKeys(
      selectors.flatMap((selector) =>
        'stream' in selector ? destructionBelow(selector.stream, causeOf(selector), at) : [],
      ),
    );
    await this.countDestruction();
    return Promise.all(
      selectors.map(async (selector) =>
        'stream' in selector ? [selector.stream] : this.destroyedBy(causeOf(selector)),
      ),
    );
  }

  /** Puts keys where there are none, then takes away what belongs to a destroyed owner. */
  private async take(keys: readonly (EnsureRequest & { readonly wrapped: string })[]): Promise<void> {
    await this.writeKeys(
      keys.map(({ stream, owner, wrapped }) => ({
        updateOne: { filter: { _id: stream }, update: { $setOnInsert: { wrapped, ...owner } }, upsert: true },
      })),
    );
    // A destruction writes its owner down before it looks for keys: whoever looks for the owner after making a key misses none.
    const gone = await this.goneOwners(keys);
    await this.writeKeys(
      keys.flatMap(({ stream, owner }) => {
        const cause = ownerTexts(owner).find((text) => gone.has(text));
        return cause === undefined ? [] : [destructionOf({ _id: stream }, cause, gone.get(cause) ?? '')];
      }),
    );
    const tombstones = await this.tombstonesOf(
      keys.flatMap(({ stream: name }) => (dataKeyPlace(name).entity === undefined ? [] : [dataKeyPlace(name).stream])),
    );
    await this.writeKeys(
      tombstones.flatMap(({ _id, cause = '', destroyedAt = '' }) => destructionBelow(_id, cause, destroyedAt)),
    );
  }

  /** The owners of streams whose keys exist. */
  private async ownersOf(streams: readonly string[]): Promise<ReadonlyMap<string, KeyOwner>> {
    const found = await this.server.read(() =>
      this.models.keys.find({ _id: { $in: [...new Set(streams)] }, wrapped: { $exists: true } }).lean(),
    );
    return new Map(
      found.map(({ _id, userId, spaceId }) => [
        _id,
        { ...(userId === undefined ? {} : { userId }), ...(spaceId === undefined ? {} : { spaceId }) },
      ]),
    );
  }

  /** The destroyed ones among streams. */
  private async tombstonesOf(streams: readonly string[]): Promise<readonly KeyDocument[]> {
    if (streams.length === 0) return [];
    return this.server.read(() =>
      this.models.keys.find({ _id: { $in: [...new Set(streams)] }, cause: { $exists: true } }).lean(),
    );
  }

  private async buryOwners(owners: readonly { readonly owner: string; readonly at: string }[]): Promise<void> {
    const writes = owners.map(({ owner, at }) => ({
      updateOne: { filter: { _id: owner }, update: { $setOnInsert: { destroyedAt: at } }, upsert: true },
    }));
    await this.bulk(this.models.destroyedOwners, writes);
  }

  private async countDestruction(): Promise<void> {
    await this.server.write(() =>
      this.models.vault.updateOne({ _id: 'destructions' }, { $inc: { count: 1 } }, { upsert: true }),
    );
  }

  private async destroyedBy(cause: string): Promise<readonly string[]> {
    const found = await this.server.read(() => this.models.keys.find({ cause }, { _id: 1 }).sort({ _id: 1 }).lean());
    return found.map(({ _id }) => _id).filter((name) => dataKeyPlace(name).entity === undefined);
  }

  /** The destroyed ones among the owners of streams, with the time. */
  private async goneOwners(requests: readonly EnsureRequest[]): Promise<ReadonlyMap<string, string>> {
    const texts = [...new Set(requests.flatMap(({ owner }) => ownerTexts(owner)))];
    if (texts.length === 0) return new Map();
    const found = await this.server.read(() => this.models.destroyedOwners.find({ _id: { $in: texts } }).lean());
    return new Map(found.map(({ _id, destroyedAt }) => [_id, destroyedAt]));
  }

  private writeKeys(writes: readonly mongo.AnyBulkWriteOperation<KeyDocument>[]): Promise<void> {
    return this.bulk(this.models.keys, writes);
  }

  private async bulk<T>({ collection }: Model<T>, writes: readonly object[]): Promise<void> {
    if (writes.length === 0) return;
    await this.server.write(() =>
      collection.bulkWrite(writes as mongo.AnyBulkWriteOperation[], { ordered: false }).catch(unlessDuplicates),
    );
  }
}

/** Takes keys away where they are not destroyed yet. A stream without a key gets its tombstone; where one stands already, the insertion is rejected and nothing changes. */
const destructionOf = (
  filter: Readonly<Partial<Record<'_id' | 'userId' | 'spaceId', string>>>,
  cause: string,
  destroyedAt: string,
): mongo.AnyBulkWriteOperation<KeyDocument> => {
  const write = {
    filter: { ...filter, cause: { $exists: false } },
    update: { $unset: { wrapped: '' as const }, $set: { cause, destroyedAt } },
  };
  return filter._id === undefined ? { updateMany: write } : { updateOne: { ...write, upsert: true } };
};

/** Takes the keys of a stream's entities away: their names have a `/` next, which `0` follows. */
const destructionBelow = (
  name: string,
  cause: string,
  destroyedAt: string,
): readonly mongo.AnyBulkWriteOperation<KeyDocument>[] =>
  dataKeyPlace(name).entity !== undefined
    ? []
    : [
        {
          updateMany: {
            filter: { _id: { $gt: `${name}/`, $lt: `${name}0` }, cause: { $exists: false } },
            update: { $unset: { wrapped: '' as const }, $set: { cause, destroyedAt } },
          },
        },
      ];

const belongsTo = (owner: KeyOwner, gone: ReadonlyMap<string, string>): boolean =>
  ownerTexts(owner).some((text) => gone.has(text));

const ownerTexts = ({ userId, spaceId }: KeyOwner): readonly string[] => [
  ...(userId === undefined ? [] : [causeOf({ userId })]),
  ...(spaceId === undefined ? [] : [causeOf({ spaceId })]),
];

const causeOf = (selector: KeySelector): string => {
  if ('stream' in selector) return `thing:${selector.stream}`;
  return 'userId' in selector ? `user:${selector.userId}` : `space:${selector.spaceId}`;
};

const unlessDuplicates = (error: unknown): void => {
  if (!areDuplicateKeys(error)) throw error;
};

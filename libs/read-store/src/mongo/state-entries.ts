import { canonicalJson, type Json } from '@app/kernel';
import { idsBeginning, type Models, modelsOf } from './documents';
import { isDuplicateKey } from './mongo-errors';
import type { MongoServer } from './mongo-server';

/** Opens the entries on a server, for callers without views there. */
export const entriesOn = async (server: MongoServer): Promise<Entries> =>
  new Entries(server, await modelsOf(server.database));

/** Keeps small durable state by key, as canonical JSON: equal values are equal texts. */
export class Entries {
  constructor(
    private readonly server: MongoServer,
    private readonly models: Pick<Models, 'state'>,
  ) {}

  async read(key: string): Promise<Json | undefined> {
    const entry = await this.server.read(() => this.models.state.findById(key).lean());
    return entry === null ? undefined : (JSON.parse(entry.value) as Json);
  }

  async list(prefix: string, after: string, limit: number): Promise<readonly { key: string; value: Json }[]> {
    const found = await this.server.read(() =>
      this.models.state
        .find({ _id: { ...idsBeginning(prefix), $gt: after } })
        .sort({ _id: 1 })
        .limit(limit)
        .lean(),
    );
    return found.map(({ _id, value }) => ({ key: _id, value: JSON.parse(value) as Json }));
  }

  /** Writes or removes an entry if its value is the expected one. */
  async write(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): Promise<boolean> {
    if (options === undefined) return this.overwrite(key, value);
    if (options.expected === undefined) return this.insert(key, value);
    const current = { _id: key, value: canonicalJson(options.expected) };
    if (value === null) return (await this.server.write(() => this.models.state.deleteOne(current))).deletedCount === 1;
    return (
      (await this.server.write(() => this.models.state.updateOne(current, { $set: { value: canonicalJson(value) } })))
        .matchedCount === 1
    );
  }

  private async overwrite(key: string, value: Json | null): Promise<boolean> {
    if (value === null) await this.server.write(() => this.models.state.deleteOne({ _id: key }));
    else
      await this.server.write(() =>
        this.models.state.updateOne({ _id: key }, { $set: { value: canonicalJson(value) } }, { upsert: true }),
      );
    return true;
  }

  private async insert(key: string, value: Json | null): Promise<boolean> {
    if (value === null) return (await this.read(key)) === undefined;
    try {
      await this.server.write(() => this.models.state.create([{ _id: key, value: canonicalJson(value) }]));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }
}

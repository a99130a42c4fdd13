import { Unavailable } from '@app/kernel';
import type { estypes } from '@elastic/elasticsearch';
import type { IndexNames } from './index-names';
import { CODES, codesMapping, schema, vectorMapping } from './index-schema';
import { CLOSED_INDEX, type CallOptions, hasClosed, isRejection, Rejection, type Server } from './server';

const CONTROL: CallOptions = { timeoutMs: 30_000, retryMs: 10_000 };
const READ: CallOptions = { timeoutMs: 5_000, retryMs: 1_000 };
const REFRESH: CallOptions = { timeoutMs: 60_000, retryMs: 10_000 };
const HEALTH_MS = 2_000;

/** Manages the versions of indexes. Each is an index of its own; an alias names the live one. */
export class Versions {
  /** Fields of vectors known to exist, by version and name. */
  private readonly declaredFields = new Set<string>();

  constructor(
    private readonly server: Server,
    private readonly names: IndexNames,
  ) {}

  /** Creates the index of a version if it is missing. It gets replicas when it is served. */
  async prepare(index: string, version: number): Promise<void> {
    try {
      await this.server.call(CONTROL, (client, options) =>
        client.indices.create(
          {
            index: this.names.version(index, version),
            ...schema,
            aliases: { [this.names.writer(index, version)]: {} },
          },
          options,
        ),
      );
    } catch (error) {
      if (!isRejection(error, 400) || !(await this.versions(index)).includes(version)) throw error;
    }
  }

  async live(index: string): Promise<number | undefined> {
    const name = (await this.indexesOf({ name: this.names.alias(index) }))[0];
    return name === undefined ? undefined : this.names.versionOf(index, name);
  }

  async isLive(index: string, version: number): Promise<boolean> {
    return this.server.call(READ, (client, options) =>
      client.indices.existsAlias({ name: this.names.alias(index), index: this.names.version(index, version) }, options),
    );
  }

  async versions(index: string): Promise<readonly number[]> {
    const names = await this.indexesOf({ index: this.names.versions(index) });
    return names.flatMap((name) => this.names.versionOf(index, name) ?? []).toSorted((a, b) => a - b);
  }

  /**
   * Moves the alias in one step. The server rejects it when `from` does not have the alias any more, and a first version beside
   * another, since an alias has one write index at most.
   */
  async swap(index: string, from: number | undefined, to: number): Promise<boolean> {
    const alias = this.names.alias(index);
    if (from === undefined && (await this.live(index)) !== undefined) return false;
    await this.restoreCopies(index, to);
    await this.refresh(index, to);
    const add = { add: { index: this.names.version(index, to), alias, is_write_index: true } };
    const remove =
      from === undefined ? [] : [{ remove: { index: this.names.version(index, from), alias, must_exist: true } }];
    try {
      await this.server.call(CONTROL, (client, options) =>
        client.indices.updateAliases({ actions: [...remove, add] }, options),
      );
    } catch (error) {
      if (error instanceof Rejection) return false;
      const live = await this.live(index);
      if (live === from) throw error;
      if (live !== to) return false;
    }
    // Show what was written before this process knew that it is served.
    await this.refresh(index, to);
    return true;
  }

  async drop(index: string, version: number): Promise<void> {
    this.forgetFields(index, version);
    await this.server.call(CONTROL, (client, options) =>
      client.indices.delete({ index: this.names.version(index, version), ignore_unavailable: true }, options),
    );
  }

  async refresh(index: string, version: number): Promise<void> {
    await onVersion(
      index,
      version,
      this.server.call(REFRESH, (client, options) =>
        client.indices.refresh({ index: this.names.version(index, version) }, options),
      ),
    );
  }

  /** Declares the field of a model's vectors before the first write: the schema accepts no other fields. */
  declareVectors(index: string, version: number, field: string, dimensions: number): Promise<void> {
    return this.declare(index, version, field, vectorMapping(dimensions));
  }

  /** Declares the field of codes before the first write, which indexes of earlier versions lack. */
  declareCodes(index: string, version: number): Promise<void> {
    return this.declare(index, version, CODES, codesMapping);
  }

  private async declare(
    index: string,
    version: number,
    field: string,
    mapping: estypes.MappingProperty,
  ): Promise<void> {
    const known = `${this.names.version(index, version)}/${field}`;
    if (this.declaredFields.has(known)) return;
    const properties = { [field]: mapping };
    await this.server.call(CONTROL, (client, options) =>
      client.indices.putMapping({ index: this.names.version(index, version), properties }, options),
    );
    this.declaredFields.add(known);
  }

  /** Forgets what is known of an index after a rejected write: another process may have created it again. */
  forgetFields(index: string, version: number): void {
    const start = `${this.names.version(index, version)}/`;
    for (const known of this.declaredFields) if (known.startsWith(start)) this.declaredFields.delete(known);
  }

  async health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    try {
      const [{ status }, closed] = await Promise.all([
        this.server.call({ timeoutMs: HEALTH_MS }, (client, options) =>
          client.cluster.health({ index: this.names.all, timeout: '1s' }, options),
        ),
        hasClosed(this.server, { timeoutMs: HEALTH_MS }, this.names.all),
      ]);
      if (status === 'red') return { ok: false, reason: 'Elasticsearch has indexes that cannot be read' };
      return closed ? { ok: false, reason: CLOSED_INDEX } : { ok: true };
    } catch (error) {
      return {
        ok: false,
        reason: error instanceof Unavailable ? error.reason : 'Elasticsearch does not report its health',
      };
    }
  }

  private async restoreCopies(index: string, version: number): Promise<void> {
    const settings = { auto_expand_replicas: '0-1' };
    await onVersion(
      index,
      version,
      this.server.call(CONTROL, (client, options) =>
        client.indices.putSettings({ index: this.names.version(index, version), settings }, options),
      ),
    );
  }

  private async indexesOf(asked: { readonly name?: string; readonly index?: string }): Promise<readonly string[]> {
    try {
      return Object.keys(await this.server.call(READ, (client, options) => client.indices.getAlias(asked, options)));
    } catch (error) {
      if (isRejection(error, 404)) return [];
      throw error;
    }
  }
}

/** Turns an unknown index into what the embedded engine throws for a missing version. */
export const onVersion = async <T>(index: string, version: number, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (isRejection(error, 404))
      throw new Unavailable('search', `index ${index} v${version} is missing; rebuild it from the log`);
    throw error;
  }
};

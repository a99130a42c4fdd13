import type { Json } from '@app/kernel';
import { type Entries, entriesOn, type MongoServer, openMongoServer } from '@app/read-store';
import type { CoordinationStore, Entry } from '../coordination-store';

export interface MongoCoordinationStoreOptions {
  /** `mongodb://` or `mongodb+srv://`; the database is `platform` where it names none. */
  readonly url: string;
}

/** The coordination store on MongoDB: the collection `state`, beside the views. Throws `Unavailable` when nothing answers. */
export const openMongoCoordinationStore = async ({
  url,
}: MongoCoordinationStoreOptions): Promise<CoordinationStore> => {
  const server = await openMongoServer({ url, dependency: 'coordination' });
  return new MongoCoordinationStore(server, await entriesOn(server));
};

class MongoCoordinationStore implements CoordinationStore {
  constructor(
    private readonly server: MongoServer,
    private readonly entries: Entries,
  ) {}

  read(key: string): Promise<Json | undefined> {
    return this.entries.read(key);
  }

  list(
    prefix: string,
    { after = '', limit = 1_000 }: { readonly after?: string; readonly limit?: number } = {},
  ): Promise<readonly Entry[]> {
    return this.entries.list(prefix, after, limit);
  }

  write(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): Promise<boolean> {
    return this.entries.write(key, value, options);
  }

  health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    return this.server.health();
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

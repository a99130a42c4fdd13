import { allEntries, type CoordinationStore, type Entry } from '@app/coordination';
import type { Json } from '@app/kernel';
import { z } from 'zod';

const laggingSchema = z.object({ reindexId: z.string(), documentId: z.string() });

/** A document that did not follow a swap or a rollback of the jobs of a place. */
interface LaggingDocument {
  readonly reindexId: string;
  readonly documentId: string;
}

export interface StoredLaggingDocument extends LaggingDocument {
  /** As it stands in the store. */
  readonly entry: Entry;
}

const PREFIX = 'reindex-behind/';

/** Documents whose passages are to be made again before they follow, for whichever worker comes first. They outlast a restart. */
export class LaggingDocuments {
  constructor(private readonly store: Pick<CoordinationStore, 'list' | 'write'>) {}

  async add({ reindexId, documentId }: LaggingDocument): Promise<void> {
    await this.store.write(`${PREFIX}${documentId}`, { reindexId, documentId });
  }

  /** All of them: those that cannot be worked on now keep no others from it. */
  async waiting(): Promise<readonly StoredLaggingDocument[]> {
    return (await allEntries((options) => this.store.list(PREFIX, options))).map((entry) => ({
      ...laggingSchema.parse(entry.value),
      entry,
    }));
  }

  async done({ entry: { key, value } }: StoredLaggingDocument): Promise<void> {
    await this.store.write(key, null, { expected: value as Json });
  }
}

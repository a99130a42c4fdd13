import { allEntries, type CoordinationStore, type Entry } from '@app/coordination';
import type { Json } from '@app/kernel';
import { z } from 'zod';
import type { Requester } from '../document/requester';

/** A document that may have vectors of an earlier title, and who renamed it; null: the user who added its content. */
const retitle = z.object({
  /** Tells it from a later one of the same document. */
  because: z.string(),
  askedBy: z.object({ userId: z.string(), keyId: z.string().optional() }).nullable(),
});

export interface Retitle {
  readonly documentId: string;
  readonly askedBy: Requester | null;
  /** As it stands in the store. */
  readonly entry: Entry;
}

const PREFIX = 'retitle/';

/** Documents whose passages are to be embedded behind a new title, for whichever worker comes first. They outlast a restart. */
export class Retitles {
  constructor(private readonly store: Pick<CoordinationStore, 'list' | 'write'>) {}

  async add(documentId: string, askedBy: Requester | null, because: string): Promise<void> {
    await this.store.write(PREFIX + documentId, { because, askedBy: askedBy && { ...askedBy } });
  }

  /** All of them: those that cannot be worked on now keep no others from it. */
  async waiting(): Promise<readonly Retitle[]> {
    return (await allEntries((options) => this.store.list(PREFIX, options))).map((entry) => {
      const { askedBy: requester } = retitle.parse(entry.value);
      const key = requester?.keyId === undefined ? {} : { keyId: requester.keyId };
      const askedBy = requester && { userId: requester.userId, ...key };
      return { documentId: entry.key.slice(PREFIX.length), askedBy, entry };
    });
  }

  /** Takes one out, unless there is a newer one of its document. */
  async done({ entry: { key, value } }: Retitle): Promise<void> {
    await this.store.write(key, null, { expected: value as Json });
  }
}

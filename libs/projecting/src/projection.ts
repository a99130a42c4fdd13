import type { RecordedEvent } from '@app/kernel';
import type { IndexSpec, Operation } from '@app/read-store';
import type { Passage } from '@app/search-index';
import type { z } from 'zod';

/** The result of a search projection for one event. If the event names a blob with passages, the caller opens it. */
export type SearchIntent =
  | {
      readonly op: 'putDocument';
      readonly documentId: string;
      readonly stream: string;
      readonly name: string;
      readonly scope: string;
      readonly tagIds: readonly string[];
      readonly revision: number;
      readonly embeddingModel: string | null;
      /** The passages, or the blob with them (`encodePassages` of @app/search-index), under the key of `stream`. */
      readonly passages: string | readonly Passage[];
    }
  | {
      readonly op: 'patchDocument';
      readonly documentId: string;
      readonly fields: {
        readonly name?: string;
        readonly tagIds?: readonly string[];
        readonly revision?: number;
      };
    }
  | { readonly op: 'removeDocument'; readonly documentId: string }
  | { readonly op: 'removeScope'; readonly scope: string };

/** A pure fold of the log into the rows of one view. The same events give the same rows, byte for byte. */
export interface RowProjection {
  readonly kind: 'rows';
  readonly name: string;
  readonly version: number;
  /** Event types it reads; others are never handed to it. */
  readonly types: readonly string[];
  /** No two streams touch the same row, so several projectors may each follow a part of the streams. */
  readonly perStream?: true;
  /** It reads only the type and the context of events, so unreadable data never stop it. */
  readonly contextOnly?: true;
  readonly row: z.ZodObject;
  readonly indexes: readonly IndexSpec[];
  /** No clock, no random, no reads: only the event. */
  apply(event: RecordedEvent): readonly Operation[];
}

/** Folds events of its types into a search index. A higher `version` has the index rebuilt. */
export interface SearchProjection {
  readonly kind: 'search';
  readonly name: string;
  readonly version: number;
  readonly types: readonly string[];
  /** Most events of one commit; 20 by default, since a document comes with all its passages and their vectors. */
  readonly mostAtOnce?: number;
  apply(event: RecordedEvent): readonly SearchIntent[];
}

/** What makes a view: rows, or a search index. */
export type Projection = RowProjection | SearchProjection;

/**
 * A durable reaction: reads the log and issues further commands. It keeps its place in the log itself and never runs in a
 * rebuild. It may see an event again after a crash, so its commands take ids derived from the event (`deriveId`).
 */
export interface Policy {
  readonly name: string;
  readonly types: readonly string[];
  /** Streams that are reacted to at the same time, each in its order; 8 by default. */
  readonly concurrency?: number;
  /** Whether it reads sensitive fields. If not, they are not decrypted and read as `ERASED`. */
  readonly readsContent?: true;
  react(event: RecordedEvent): Promise<void>;
}

import type {
  IndexedDocument,
  Passage,
  SearchBatch,
  SearchHit,
  SearchIndex,
  SearchOperation,
  SearchQuery,
} from './search-index';

/** An index to put under test. */
export interface SearchIndexUnderTest {
  readonly index: SearchIndex;
  /** Opens the same data again, as after a restart. */
  reopen(): Promise<SearchIndex>;
  destroy(): Promise<void>;
}

export const passage = (chunkId: string, text: string, given: Partial<Passage> = {}): Passage => ({
  chunkId,
  ordinal: 0,
  text,
  headings: [],
  start: 0,
  end: text.length,
  enabled: true,
  ...given,
});

/** A document of scope `s:1` named `Notes`. */
export const document = (
  documentId: string,
  passages: readonly Passage[],
  given: Partial<IndexedDocument> = {},
): IndexedDocument => ({
  documentId,
  name: 'Notes',
  scope: 's:1',
  tagIds: [],
  revision: 1,
  embeddingModel: 'small',
  passages: passages.map((given_, ordinal) => ({ ...given_, ordinal })),
  ...given,
});

export const putDocument = (...given: Parameters<typeof document>): SearchOperation => ({
  op: 'putDocument',
  document: document(...given),
});

/** A unit vector that points between four directions. */
export const direction = (...parts: readonly number[]): readonly number[] => {
  const length = Math.hypot(...parts);
  return [0, 1, 2, 3].map((index) => (parts[index] ?? 0) / length);
};

/** An index of its own for one test. */
export class TestIndex {
  constructor(
    readonly name: string,
    readonly index: SearchIndex,
  ) {}

  /** Applies operations where the index stands. */
  async apply(operations: readonly SearchOperation[], given: Partial<SearchBatch> = {}): Promise<void> {
    const { position = null, handled = 0 } = (await this.index.checkpoint(this.name, given.version ?? 1)) ?? {};
    const next = String(handled + 1).padStart(6, '0');
    await this.index.apply({
      index: this.name,
      version: 1,
      from: position,
      to: { position: next, handled: handled + 1 },
      fence: 1,
      changes: [{ position: next, operations }],
      ...given,
    });
  }

  /** Searches scope `s:1` by text unless told otherwise. */
  search(text: string, given: Partial<SearchQuery> = {}): Promise<readonly SearchHit[]> {
    return this.index.search(this.name, { scopes: ['s:1'], text, mode: 'text', limit: 10, ...given });
  }

  async found(text: string, given: Partial<SearchQuery> = {}): Promise<readonly string[]> {
    return (await this.search(text, given)).map(({ chunkId }) => chunkId);
  }
}

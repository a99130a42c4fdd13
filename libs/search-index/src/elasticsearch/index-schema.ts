import type { estypes } from '@elastic/elasticsearch';

/** Letters of scripts without spaces between words, as `UNSPACED_LETTERS` of `@app/kernel`. */
const UNSPACED = String.raw`\p{IsHan}\p{IsHiragana}\p{IsKatakana}\p{IsHangul}\p{IsThai}\p{IsLao}\p{IsKhmer}\p{IsMyanmar}\u3006\u3031-\u3035\u303C\u30FC\uFF70\uFF9E\uFF9F`;
/** Normalizes letters: lower case, no accents, `ss` for sharp s, plain letters for full-width ones and ligatures, Katakana for half-width one. */
const FOLDING = ['lowercase', 'cjk_width', 'marks', 'asciifolding', 'pairs', 'beginning'];

/** Makes the same words of a text as the embedded engine (`language/words.ts`), stemmed in both languages. */
const analysis: estypes.IndicesIndexSettingsAnalysis = {
  tokenizer: { words: { type: 'pattern', pattern: '[^\\p{L}\\p{N}\\p{M}]+' } },
  filter: {
    marks: { type: 'pattern_replace', pattern: '\\p{M}+', replacement: '' },
    pairs: {
      type: 'pattern_capture',
      preserve_original: false,
      patterns: [`(?=([${UNSPACED}]{2}))`, `(?<![${UNSPACED}])([${UNSPACED}])(?![${UNSPACED}])`, `([^${UNSPACED}]+)`],
    },
    beginning: { type: 'truncate', length: 64 },
    english_stems: { type: 'stemmer', language: 'english' },
    german_stems: { type: 'stemmer', language: 'light_german' },
  },
  analyzer: {
    english: { type: 'custom', tokenizer: 'words', filter: [...FOLDING, 'english_stems'] },
    // The normalization also reads ae, oe and ue as umlauts.
    german: { type: 'custom', tokenizer: 'words', filter: [...FOLDING, 'german_normalization', 'german_stems'] },
  },
};

/** Searched through `body` only, without phrases or positions. */
const searched: estypes.MappingProperty = { type: 'text', index: false, copy_to: 'body' };
const stored: estypes.MappingProperty = { type: 'object', enabled: false };

/** The codes of a passage in one (`language/joined.ts`). Declared before the first write, as vectors are, where an earlier version made the index. */
export const CODES = 'codes';
export const codesMapping = searched;

/** Fields of the four kinds of records: checkpoints, removed scopes, documents and passages. Fields of vectors are added for each model. */
const properties: Record<string, estypes.MappingProperty> = {
  kind: { type: 'keyword' },
  checkpoint: stored,
  at: { type: 'keyword', index: false, doc_values: false },
  documentId: { type: 'keyword' },
  scope: { type: 'keyword' },
  tagIds: { type: 'keyword' },
  removed: { type: 'boolean' },
  document: stored,
  put: { type: 'keyword', index: false },
  chunkId: { type: 'keyword' },
  place: stored,
  name: searched,
  headings: searched,
  text: searched,
  [CODES]: codesMapping,
  body: {
    type: 'text',
    analyzer: 'english',
    index_options: 'freqs',
    fields: { german: { type: 'text', analyzer: 'german', index_options: 'freqs' } },
  },
  hidden: stored,
};

/** Raise the version of every search projection when you change this: existing versions keep their schema. */
export const schema = {
  settings: {
    // Use one shard: word frequencies are counted per shard, and all passages must rank by the same.
    number_of_shards: 1,
    number_of_replicas: 0,
    // This adapter refreshes when a batch is complete, so that searches see it as a whole.
    refresh_interval: -1,
    // Remember removals this long, to recognize older writes. Batches are given up long before.
    gc_deletes: '1h',
    // A purge must leave nothing that was removed.
    'merge.policy.expunge_deletes_allowed': 0,
    analysis,
  },
  mappings: { dynamic: 'strict', properties },
} as const satisfies Pick<estypes.IndicesCreateRequest, 'settings' | 'mappings'>;

/** The server accepts at most this many dimensions. */
export const MAX_DIMENSIONS = 4_096;

/** Vectors have unit length, so the inner product ranks as the cosine does. Unlike the cosine, it rejects no vector for rounding. */
export const vectorMapping = (dimensions: number): estypes.MappingProperty => ({
  type: 'dense_vector',
  dims: dimensions,
  similarity: 'max_inner_product',
  index_options: { type: 'int8_hnsw' },
});

import type { estypes } from '@elastic/elasticsearch';

/** Scripts that put no spaces between words, as in `language/terms.ts`. */
const UNSPACED = '\\p{IsHan}\\p{IsHiragana}\\p{IsKatakana}\\p{IsThai}';
/** Letters of one form: lower case, without accents, `ss` for sharp s, full-width letters and ligatures as plain ones. */
const FOLDING = ['lowercase', 'marks', 'asciifolding', 'pairs', 'beginning'];

/** The same words as the embedded engine makes of a text (`language/terms.ts`), stemmed in both languages. */
const analysis: estypes.IndicesIndexSettingsAnalysis = {
  tokenizer: { words: { type: 'pattern', pattern: '[^\\p{L}\\p{N}\\p{M}]+' } },
  filter: {
    marks: { type: 'pattern_replace', pattern: '\\p{M}+', replacement: '' },
    pairs: {
      type: 'pattern_capture',
      preserve_original: false,
      patterns: [`(?=([${UNSPACED}]{2}))`, `([^${UNSPACED}]+)`],
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

/** Searched through `body` only, which neither phrases nor positions are asked of. */
const searched: estypes.MappingProperty = { type: 'text', index: false, copy_to: 'body' };
const stored: estypes.MappingProperty = { type: 'object', enabled: false };

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
  body: {
    type: 'text',
    analyzer: 'english',
    index_options: 'freqs',
    fields: { german: { type: 'text', analyzer: 'german', index_options: 'freqs' } },
  },
  hidden: stored,
};

/** A change needs a new version of every search projection: versions that are there keep the schema they were made with. */
export const schema = {
  settings: {
    // Word frequencies are counted over one shard, so that every passage is ranked by the same.
    number_of_shards: 1,
    number_of_replicas: 0,
    // Searches see what was written when this adapter says so: when a batch is whole.
    refresh_interval: -1,
    // How long a write that was overtaken by a removal is still known to be old; batches are given up long before.
    gc_deletes: '1h',
    // A purge leaves nothing that was removed.
    'merge.policy.expunge_deletes_allowed': 0,
    analysis,
  },
  mappings: { dynamic: 'strict', properties },
} as const satisfies Pick<estypes.IndicesCreateRequest, 'settings' | 'mappings'>;

/** Most dimensions that the server takes. */
export const MAX_DIMENSIONS = 4_096;

/** Unit vectors, for which the inner product ranks as the cosine does; and none is rejected for the last digit of its length. */
export const vectorMapping = (dimensions: number): estypes.MappingProperty => ({
  type: 'dense_vector',
  dims: dimensions,
  similarity: 'max_inner_product',
  index_options: { type: 'int8_hnsw' },
});

import { RULES } from './rules';
import { MODELS } from './weights';

/** Buckets of hashed features. A model has one weight for each, of one byte. */
export const BUCKETS = 2 ** 16;

/** The bucket of a feature: FNV-1a of 32 bits, folded. */
const bucketOf = (feature: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < feature.length; index++) hash = Math.imul(hash ^ feature.charCodeAt(index), 0x01000193);
  return ((hash >>> 16) ^ hash) & (BUCKETS - 1);
};

const MOST_WORDS = 150;

/** Words of a folded text; addresses and numbers stand for their kind. */
const wordsOf = (read: string): readonly string[] =>
  (
    read
      .slice(0, 2000)
      .replace(/\bhttps?:\/\/\S+|\bwww\.\S+/g, ' _url ')
      .replace(/[\w.+-]{1,64}@[\w.-]{1,64}/g, ' _mail ')
      .replace(
        /\b[a-z][a-z-]{1,30}(?:\.[a-z][a-z-]{1,30})*\.(?:com|net|org|io|de|example|test|invalid|ly|co|ai)\b\S*/g,
        ' _host ',
      )
      .match(/[\p{L}_']+|\p{N}+|[^\s\p{L}\p{N}]/gu) ?? []
  )
    .slice(0, MOST_WORDS)
    .map((word) => (/^\d/.test(word) ? '0' : word.slice(0, 24)));

/** The buckets of the features of a folded text: words, pairs of words, parts of words, rules. Each once. */
export const featuresOf = (read: string): readonly number[] => {
  const buckets = new Set<number>();
  const words = wordsOf(read);
  for (const [index, word] of words.entries()) {
    const [next, second] = [words[index + 1] ?? '$', words[index + 2] ?? '$'];
    buckets.add(bucketOf(`w${word}`));
    buckets.add(bucketOf(`b${word} ${next}`));
    buckets.add(bucketOf(`k${word} ${second}`));
    const marked = `^${word}$`;
    if (word.length > 3)
      for (const size of [4, 5])
        for (let from = 0; from + size <= marked.length; from++)
          buckets.add(bucketOf(`c${marked.slice(from, from + size)}`));
  }
  buckets.add(bucketOf(`s${words[0] ?? ''}`));
  buckets.add(bucketOf(`s${words[0] ?? ''} ${words[1] ?? ''}`));
  for (const { id, pattern } of RULES)
    if (pattern.test(read)) buckets.add(bucketOf(`r${id}`)).add(bucketOf(`g${id.split('.')[0]}`));
  return [...buckets];
};

/** A linear model: quantised weights, what one of them is worth, its bias, and the probability from which a text is flagged. */
export interface Model {
  readonly weights: Int8Array;
  readonly scale: number;
  readonly bias: number;
  readonly threshold: number;
}

const loaded = ({ weights, ...rest }: { weights: string; scale: number; bias: number; threshold: number }): Model => {
  const bytes = Buffer.from(weights, 'base64');
  return { ...rest, weights: new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) };
};
const models = { memory: loaded(MODELS.memory), text: loaded(MODELS.text) };
export const modelFor = (purpose: 'memory' | 'text' | 'skill'): Model =>
  purpose === 'memory' ? models.memory : models.text;

/** The probability that a folded text is unsafe. */
export const probability = (read: string, { weights, scale, bias }: Model): number => {
  const buckets = featuresOf(read);
  let sum = 0;
  for (const bucket of buckets) sum += weights[bucket] ?? 0;
  return 1 / (1 + Math.exp(-(bias + (sum * scale) / Math.sqrt(Math.max(1, buckets.length)))));
};

/** A text and its sentences, folded. An order is found among many harmless sentences too. */
export const windows = (read: string): readonly string[] => {
  const sentences = read.split(/(?<=[.!?;])\s+|\n+/).filter((sentence) => sentence.length > 12);
  const parts = sentences.length > 1 ? sentences.slice(0, 200) : [];
  return [read.slice(0, 2000), ...parts];
};

import { brotliDecompressSync } from 'node:zlib';
import { conceptOf, isActing, STYLE } from './concepts';
import { fieldOf } from './fields';
import { FACTUAL, MOODS, moodsOf } from './moods';
import { RULES } from './rules';
import { synonymsOf } from './synonyms-of';
import { topicOf } from './topics';
import { MODELS } from './weights';

/** What a model reads. Memories are short and said in any way: their words are read closely. Texts are found better by fewer features. */
export type Reading = 'memory' | 'text';

/** Buckets of hashed features. A model has one weight for each. Memories have more features, and hardly two of them share one. */
export const BUCKETS: Readonly<Record<Reading, number>> = { memory: 2 ** 22, text: 2 ** 18 };

/** Hashes of features, before they go to buckets: hardly two have the same. */
export const HASHES = 2 ** 24;

const MOST_WORDS = 150;
const FIRST = 0x811c9dc5;
const PRIME = 0x01000193;

const mixed = (hash: number, text: string): number => {
  let next = hash;
  for (let index = 0; index < text.length; index++) next = Math.imul(next ^ text.charCodeAt(index), PRIME);
  return next;
};
const hashOf = (hash: number): number => ((hash >>> 14) ^ hash) & (HASHES - 1);

/** A text without the sign has no address: of a long word every letter would be tried. */
const withoutMail = (read: string): string =>
  read.includes('@') ? read.replace(/[\w.+-]{1,64}@[\w.-]{1,64}/g, ' _mail ') : read;

/** Words of a folded text; addresses and numbers stand for their kind. */
const wordsOf = (read: string): readonly string[] =>
  (
    withoutMail(read.slice(0, 2000).replace(/\bhttps?:\/\/\S+|\bwww\.\S+/g, ' _url '))
      .replace(
        /\b[a-z][a-z-]{1,30}(?:\.[a-z][a-z-]{1,30})*\.(?:com|net|org|io|de|example|test|invalid|ly|co|ai)\b\S*/g,
        ' _host ',
      )
      .match(/[\p{L}_']+|\p{N}+|[^\s\p{L}\p{N}]/gu) ?? []
  )
    .slice(0, MOST_WORDS)
    .map((word) => (/^\d/.test(word) ? '0' : word.slice(0, 24)));

/** A kind of features begins its hashes as no other does. */
const kind = (number: number): number => Math.imul(FIRST ^ number, PRIME);
const WORD = kind(1);
const PAIR = kind(2);
const SKIP = kind(3);
const PART = kind(4);
const START = kind(5);
const RULE = kind(6);
const CONCEPT = kind(7);
const AFTER = kind(8);
const NEXT = kind(9);
const THREE = kind(10);
const OPEN = kind(11);
const MOOD = kind(12);
const SYNONYM = kind(13);
const FIELD = kind(14);
const THIRD = kind(15);
const TRIPLE = kind(16);
const LENGTH = kind(17);
const SHAPE = kind(18);

/** Numbers of topics, behind those of fields. */
const TOPICS = 100;

/** Concepts this many concepts later still belong together. */
const REACH = 6;

const pair = (hash: number, first: number, second: number): number =>
  Math.imul(Math.imul(hash ^ first, PRIME) ^ second, PRIME);

/** Concepts, in the order in which the text has them. */
const addConcepts = (concepts: readonly number[], hashes: Set<number>): void => {
  for (const [index, concept] of concepts.entries()) {
    hashes.add(hashOf(Math.imul(CONCEPT ^ concept, PRIME)));
    const next = concepts[index + 1] ?? 0;
    hashes.add(hashOf(pair(NEXT, concept, next)));
    hashes.add(hashOf(pair(pair(THREE, concept, next), concepts[index + 2] ?? 0, 1)));
    for (let later = index + 1; later <= index + REACH && later < concepts.length; later++)
      hashes.add(hashOf(pair(AFTER, concept, concepts[later] ?? 0)));
  }
};

/** Synonyms this many synonyms later still belong together. */
const NEAR = 6;

/** Synonyms, and those that stand near each other in either order: German verbs go to the end where English ones lead. */
const addSynonyms = (words: readonly string[], hashes: Set<number>): void => {
  const meant = words.map(synonymsOf).filter((synonyms) => synonyms > 0);
  for (const [index, synonyms] of meant.entries()) {
    hashes.add(hashOf(Math.imul(SYNONYM ^ synonyms, PRIME)));
    for (let later = index + 1; later <= index + NEAR && later < meant.length; later++) {
      const other = meant[later] ?? 0;
      hashes.add(hashOf(pair(SYNONYM, Math.min(synonyms, other), Math.max(synonyms, other))));
    }
  }
};

/** Fields and topics this many of them later still belong together. */
const WITHIN = 5;

/** Fields and topics, and those that stand near each other in either order: what is done, to what, for whom, and where it ends. */
const addFields = (words: readonly string[], hashes: Set<number>): void => {
  const about = words.flatMap((word) => {
    const [field, topic] = [fieldOf(word), topicOf(word)];
    return [...(field > 0 ? [field] : []), ...(topic > 0 ? [TOPICS + topic] : [])];
  });
  for (const [index, one] of about.entries()) {
    hashes.add(hashOf(Math.imul(FIELD ^ one, PRIME)));
    for (let later = index + 1; later <= index + WITHIN && later < about.length; later++) {
      const other = about[later] ?? 0;
      hashes.add(hashOf(pair(FIELD, Math.min(one, other), Math.max(one, other))));
    }
  }
};

/** Places of features of moods, behind those of concepts. */
const [WITH_FORM, WITHOUT_FORM, NO_MOOD, ALL_MOODS, FORM_AND, ACTING] = [253, 254, 255, 300, 301, 400] as const;
const MOST_ACTING = 4;

/** Moods, beside concepts: an order of form is another thing than an order to act. */
const addMoods = (words: readonly string[], concepts: readonly number[], hashes: Set<number>): void => {
  const moods = moodsOf(words);
  const kinds = new Set(concepts);
  const isForm = kinds.has(STYLE);
  const add = (first: number, second: number) => hashes.add(hashOf(pair(MOOD, first, second)));
  for (let mood = 0; mood < MOODS; mood++) {
    if ((moods & (1 << mood)) === 0) continue;
    add(mood, 0);
    add(mood, isForm ? WITH_FORM : WITHOUT_FORM);
    for (const concept of kinds) add(mood, concept);
  }
  if (moods === 0) add(NO_MOOD, isForm ? 1 : 0);
  add(ALL_MOODS, moods);
  const acting = Math.min(MOST_ACTING, [...kinds].filter(isActing).length);
  const isOrder = (moods & ~FACTUAL) !== 0;
  add(ACTING + acting, (isOrder ? 2 : 0) + (isForm ? 1 : 0));
  if (isForm) for (const concept of kinds) add(FORM_AND, concept);
  hashes.add(hashOf(pair(OPEN, conceptOf(words[0] ?? ''), conceptOf(words[1] ?? ''))));
};

const LONGEST_PART = 5;

/** Parts of a word of so many letters and up to five: what compounds and inflections have in common. */
const addParts = (word: string, shortest: number, hashes: Set<number>): void => {
  const marked = `^${word}$`;
  for (let from = 0; from + shortest <= marked.length; from++) {
    let hash = PART;
    const end = Math.min(marked.length, from + LONGEST_PART);
    for (let index = from; index < end; index++) {
      hash = Math.imul(hash ^ marked.charCodeAt(index), PRIME);
      if (index - from + 1 >= shortest) hashes.add(hashOf(hash));
    }
  }
};

const isOfLetters = (word: string): boolean => word.length > 2 && /^\p{L}/u.test(word);

/** Words, two of them up to two apart, and how a text begins; read closely also two of them three apart, and three in a row. */
const addWords = (words: readonly string[], isClosely: boolean, hashes: Set<number>): void => {
  for (const [index, word] of words.entries()) {
    const [next, second] = [words[index + 1] ?? '$', words[index + 2] ?? '$'];
    const own = mixed(WORD, word);
    hashes.add(hashOf(own));
    hashes.add(hashOf(mixed(own ^ PAIR, next)));
    hashes.add(hashOf(mixed(own ^ SKIP, second)));
    if (!isClosely) continue;
    hashes.add(hashOf(mixed(own ^ THIRD, words[index + 3] ?? '$')));
    hashes.add(hashOf(mixed(mixed(own ^ TRIPLE, next) ^ TRIPLE, second)));
  }
  const first = mixed(START, words[0] ?? '');
  hashes.add(hashOf(first));
  hashes.add(hashOf(mixed(first ^ PAIR, words[1] ?? '')));
};

/** A text of more words is as long as any. */
const LENGTHS = [0, 1, 2, 3, 4, 5, 7, 10, 15, 25];
/** Texts of so many words have a shape. */
const BARE = 5;

/** How long a memory is; of a bare one also where it has words, numbers and signs: a label is no order. */
const addShape = (words: readonly string[], hashes: Set<number>): void => {
  const length = LENGTHS.findIndex((most) => words.length <= most);
  hashes.add(hashOf(Math.imul(LENGTH ^ (length < 0 ? LENGTHS.length : length), PRIME)));
  if (words.length > BARE) return;
  hashes.add(hashOf(mixed(SHAPE, words.map((word) => (/^\p{L}/u.test(word) ? 'w' : word)).join(' '))));
  if (words.at(-1) === '0') hashes.add(hashOf(SHAPE));
};

/** Hashes or buckets of features, in groups. Of memories: words, parts of words, what they mean and their shape, synonyms, fields and topics. Behind those, of texts: words with their parts, and the same meanings. */
export type Features = readonly (readonly number[])[];

/** What each group of features weighs, by how many it has in a text: no more of a long text than of a short one. */
const GROUPS = [2.4, 1.2, 0.8, 0.8, 0.8, 1.5, 1, 1, 1];
const OF_MEMORIES = 5;
export const weightOf = (group: number, count: number): number => (GROUPS[group] ?? 1) / Math.sqrt(Math.max(1, count));

/** The buckets of hashed features, each once. */
export const inBuckets = (features: Features, reading: Reading): Features => {
  const last = BUCKETS[reading] - 1;
  return features.map((group) => {
    const buckets = new Set<number>();
    for (const hash of group) buckets.add(hash & last);
    return [...buckets];
  });
};

/** The hashed features of a folded text: words near each other and parts of words; concepts in their order, moods and rules; synonyms; fields and topics. Each once. */
export const featuresOf = (read: string, reading: Reading): Features => {
  const isClosely = reading === 'memory';
  const said = new Set<number>();
  const parts = isClosely ? new Set<number>() : said;
  const meant = new Set<number>();
  const words = wordsOf(read);
  addWords(words, isClosely, said);
  for (const word of words)
    if (isClosely ? isOfLetters(word) : word.length > 3) addParts(word, isClosely ? 3 : 4, parts);
  const concepts = words.map(conceptOf).filter((concept) => concept > 0);
  addConcepts(concepts, meant);
  addMoods(words, concepts, meant);
  if (isClosely) addShape(words, meant);
  for (const { id, pattern } of RULES)
    if (pattern.test(read)) {
      meant.add(hashOf(mixed(RULE, id)));
      meant.add(hashOf(mixed(RULE ^ PAIR, id.split('.')[0] ?? '')));
    }
  const synonyms = new Set<number>();
  addSynonyms(words, synonyms);
  const fields = new Set<number>();
  addFields(words, fields);
  const meanings = [[...meant], [...synonyms], [...fields]];
  return isClosely
    ? [[...said], [...parts], ...meanings]
    : [...Array.from({ length: OF_MEMORIES }, () => []), [...said], ...meanings];
};

/** A linear model: what it reads, quantised weights, what one of them is worth, its bias, and the probability from which a text is flagged. */
export interface Model {
  readonly reading: Reading;
  readonly weights: Int8Array;
  readonly scale: number;
  readonly bias: number;
  readonly threshold: number;
}

const loaded = (reading: Reading): Model => {
  const { weights, ...rest } = MODELS[reading];
  return { ...rest, reading, weights: new Int8Array(brotliDecompressSync(Buffer.from(weights, 'base64'))) };
};
const models = { memory: loaded('memory'), text: loaded('text') };
export const modelFor = (purpose: 'memory' | 'text' | 'skill'): Model =>
  purpose === 'memory' ? models.memory : models.text;

/** The probability that a folded text is unsafe. */
export const probability = (read: string, { reading, weights, scale, bias }: Model): number => {
  let total = bias;
  for (const [group, buckets] of inBuckets(featuresOf(read, reading), reading).entries()) {
    let sum = 0;
    for (const bucket of buckets) sum += weights[bucket] ?? 0;
    total += sum * scale * weightOf(group, buckets.length);
  }
  return 1 / (1 + Math.exp(-total));
};

/** A text and its sentences, folded. An order is found among many harmless sentences too. */
export const windows = (read: string): readonly [string, ...string[]] => {
  const sentences = read.split(/(?<=[.!?;])\s+|\n+/).filter((sentence) => sentence.length > 12);
  const parts = sentences.length > 1 ? sentences.slice(0, 200) : [];
  return [read.slice(0, 2000), ...parts];
};

import { LRUCache } from 'lru-cache';
import { stemmer } from 'stemmer';
import { germanStem } from './german-stemmer';
import { ENGLISH_STOP_WORDS, GERMAN_STOP_WORDS } from './stop-words';

export type Language = 'en' | 'de';

/** Most words of a query that are looked up, and most characters of it that are read. */
const MAX_QUERY_WORDS = 64;
const MAX_QUERY_CHARACTERS = 20_000;
/** Longer runs of letters are no words; only their beginning counts. */
const MAX_WORD_CHARACTERS = 64;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** What is stemmed as English: words of its letters alone. */
const ENGLISH = /^[a-z]+$/;
/** Scripts that put no spaces between words: every two neighbouring characters are a term. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

const stemsOf = { en: (word: string) => (ENGLISH.test(word) ? stemmer(word) : word), de: germanStem };
const stems = { en: new LRUCache<string, string>({ max: 50_000 }), de: new LRUCache<string, string>({ max: 50_000 }) };

/** The language whose stop words occur more often; English when neither leads. */
export const languageOf = (texts: readonly string[]): Language => {
  let lead = 0;
  for (const text of texts)
    for (const word of words(text)) lead += Number(ENGLISH_STOP_WORDS.has(word)) - Number(GERMAN_STOP_WORDS.has(word));
  return lead < 0 ? 'de' : 'en';
};

/** What the full-text index holds of a text: stems with spaces between them. */
export const indexedTerms = (texts: readonly string[], language: Language): string =>
  texts.flatMap((text) => words(text).map((word) => stem(word, language))).join(' ');

/**
 * The words of a query as they were written. A word that is repeated counts again. Stop words and question words are left out
 * unless nothing else is there.
 */
export const askedWords = (text: string): readonly string[] => {
  const all = text.slice(0, MAX_QUERY_CHARACTERS).match(WORD) ?? [];
  const telling = all.filter((word) => !isStopWord(folded(word)));
  return (telling.length > 0 ? telling : all)
    .slice(0, MAX_QUERY_WORDS)
    .map((word) => word.slice(0, MAX_WORD_CHARACTERS));
};

/** The terms of a query: for each of its words the stem in either language. */
export const queryTerms = (text: string): readonly (readonly string[])[] =>
  words(askedWords(text).join(' '))
    .slice(0, MAX_QUERY_WORDS)
    .map((word) => [...new Set([stem(word, 'en'), stem(word, 'de')])]);

/** The text with the words that a query asked for between `<mark>` and `</mark>`; everything else is as it was. */
export const highlighted = (text: string, query: readonly (readonly string[])[], language: Language): string => {
  const wanted = new Set(query.flat());
  // A stem begins as its word does: most words are passed over by their first letter.
  const initials = new Set([...wanted].map((term) => term[0]));
  const asked = (piece: string): boolean => initials.has(piece[0]) && wanted.has(stem(piece, language));
  return text.replace(WORD, (word) => (pieces(folded(word)).some(asked) ? `<mark>${word}</mark>` : word));
};

const isStopWord = (word: string): boolean => ENGLISH_STOP_WORDS.has(word) || GERMAN_STOP_WORDS.has(word);

const words = (text: string): readonly string[] => (text.match(WORD) ?? []).flatMap((word) => pieces(folded(word)));

/** Lower case without accents, so that index, queries and highlights compare the same letters. */
const folded = (word: string): string => {
  const lower = word.slice(0, MAX_WORD_CHARACTERS).toLowerCase();
  return /^[a-z0-9]*$/.test(lower)
    ? lower
    : lower.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
};

const pieces = (word: string): readonly string[] => {
  if (!UNSPACED.test(word)) return word === '' ? [] : [word];
  const characters = [...word];
  return characters.length === 1
    ? characters
    : characters.slice(1).map((character, index) => `${characters[index]}${character}`);
};

const stem = (word: string, language: Language): string => {
  const known = stems[language].get(word);
  if (known !== undefined) return known;
  const made = stemsOf[language](word);
  stems[language].set(word, made);
  return made;
};

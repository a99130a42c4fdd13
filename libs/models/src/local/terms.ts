import { stemmer } from 'stemmer';
import { slicesOf } from './text-slices';

/** Words that say nothing about what a text is about: articles, pronouns, question words, in English and German. */
const STOP_WORDS = new Set(
  (
    'a about after all also am an and any are as at be been before but by can could did do does done each for from get gets had happen happened happens has have he her hers him his how i if in into is it its ' +
    'just may me might more most must my no not of on one only or other our out over own shall she should so some such than that the their them then there these they this those to too under ' +
    'up us use very was we were what when where which while who whom whose why will with would you your please tell show explain describe give ' +
    'make makes made making take takes taken work works working go goes mean means meant want wants need needs needed summarise summarize many much ' +
    'der die das den dem des ein eine einer eines einem einen und oder aber nicht ist sind war waren wird werden wie was wer wo wann warum welche welcher welches von zu zum zur mit im in auf ' +
    'fuer für aus bei nach vor es er sie ich wir ihr man kann auch als an am'
  ).split(' '),
);

/** The words of a text that carry meaning, also those in names like `topK`, lower-cased and reduced to their stems, in order, repetitions kept. */
export const termsOf = (text: string): string[] => [...termsIn(text)].flat();

/** The terms of a text slice by slice, so that others may run in between; without those of words of more than `most` characters. */
export function* termsIn(text: string, most = Infinity, size?: number): Generator<readonly string[]> {
  // The word at the end of a slice may go on in the next one.
  let open = '';
  for (const slice of slicesOf(text, size)) {
    const small = slice
      .normalize('NFKC')
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase();
    const words: string[] = small.match(/[\p{L}\p{N}]+/gu) ?? [];
    const [first] = words;
    const last = words.at(-1);
    if (first !== undefined && small.startsWith(first)) words[0] = open.length > most ? open : open + first;
    else if (open !== '') words.unshift(open);
    open = last !== undefined && small.endsWith(last) ? (words.pop() ?? '') : '';
    yield termsFrom(words, most);
  }
  if (open !== '') yield termsFrom([open], most);
}

const termsFrom = (words: readonly string[], most: number): readonly string[] =>
  words.filter((word) => word.length <= most && !STOP_WORDS.has(word)).map(stem);

/** More than a stem may be shorter than its word, characters. */
export const ENDING = 32;

/** The English stem of a word; names with digits are left alone. */
const stem = (word: string): string => {
  if (/\d/.test(word)) return word;
  // Some are as long as a request may be.
  return word.length > ENDING ? word.slice(0, -ENDING) + stemmer(word.slice(-ENDING)) : stemmer(word);
};

import { MAYBE_UNSPACED, neighbouringPairs, scriptRuns, UNSPACED } from '@app/kernel/threads';
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

/** The words of a text that carry meaning, also those in names like `topK`, lower-cased and reduced to their stems, in order, repetitions kept. In scripts without spaces, every two neighbouring letters. */
export const termsOf = (text: string): string[] => [...termsIn(text)].flat();

/** The terms of a text slice by slice, so that others may run in between; without those of words of more than `most` characters. */
export function* termsIn(text: string, most = Infinity, size?: number): Generator<readonly string[]> {
  // The word at the end of a slice may go on in the next one.
  let open: OpenWord = NONE;
  for (const slice of slicesOf(text, size)) {
    const small = slice
      .normalize('NFKC')
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase();
    const words: string[] = small.match(/[\p{L}\p{N}]+/gu) ?? [];
    const [first] = words;
    const last = words.at(-1);
    const goesOn = first !== undefined && small.startsWith(first);
    const mayCut = MAYBE_UNSPACED.test(small) || MAYBE_UNSPACED.test(open.text);
    if (goesOn) words[0] = joined(open.text, first, most);
    else if (open.text !== '' && !open.isPaired) words.unshift(open.text);
    const rest = last !== undefined && small.endsWith(last) ? (words.pop() ?? '') : '';
    if (mayCut) {
      const isPaired = goesOn && open.isPaired;
      const done = words.flatMap((word, at) => piecesOf(scriptRuns(word), at === 0 && isPaired));
      const opened = openedBy(rest, words.length === 0 && isPaired);
      open = opened.open;
      yield termsFrom([...done, ...opened.done], most);
    } else {
      open = { text: rest, isPaired: false };
      yield termsFrom(words, most);
    }
  }
  if (open.text !== '' && !open.isPaired) yield termsFrom([open.text], most);
}

/** A word that may go on: in a script without spaces its last letter, which may stand in a pair with the one before already. */
interface OpenWord {
  readonly text: string;
  readonly isPaired: boolean;
}

const NONE: OpenWord = { text: '', isPaired: false };

/** No more of a word is kept than tells that it is too long. */
const joined = (open: string, first: string, most: number): string => {
  if (open.length <= most) return open + first;
  const other = first.search(UNSPACED);
  return other === -1 ? open : open + first.slice(other);
};

/** Words, and pairs of letters where there are none. The first letter may stand in a pair already. */
const piecesOf = (runs: readonly string[], isPaired: boolean): readonly string[] =>
  runs.flatMap((run, at) => {
    if (!UNSPACED.test(run)) return [run];
    return at === 0 && isPaired && [...run].length === 1 ? [] : neighbouringPairs(run);
  });

/** What the word at the end of a slice makes, and what of it stays open. */
const openedBy = (word: string, isPaired: boolean): { readonly done: readonly string[]; readonly open: OpenWord } => {
  if (word === '') return { done: [], open: NONE };
  const runs = scriptRuns(word);
  const last = runs.at(-1) as string;
  const before = piecesOf(runs.slice(0, -1), isPaired);
  if (!UNSPACED.test(last)) return { done: before, open: { text: last, isPaired: false } };
  const letters = [...last];
  if (letters.length === 1) return { done: before, open: { text: last, isPaired: isPaired && runs.length === 1 } };
  return {
    done: [...before, ...neighbouringPairs(last)],
    open: { text: letters.at(-1) as string, isPaired: true },
  };
};

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

const VOWELS = 'aeiou';
type Ending = readonly [ending: string, replacement: string];

const STEP_2: readonly Ending[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
];
const STEP_3: readonly Ending[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];
const STEP_4 = [
  'al',
  'ance',
  'ence',
  'er',
  'ic',
  'able',
  'ible',
  'ant',
  'ement',
  'ment',
  'ent',
  'ion',
  'ou',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
];

/** The stem of a folded English word, by M. F. Porter, "An algorithm for suffix stripping" (1980), with his later `bli` and `logi` rules. */
export const englishStem = (word: string): string => {
  if (word.length <= 2 || !/^[a-z]+$/.test(word)) return word;
  return withoutFinalE(
    withoutSuffix(replaced(replaced(finalYToI(withoutPastTense(withoutPlural(word))), STEP_2), STEP_3)),
  );
};

const isConsonant = (word: string, index: number): boolean => {
  const letter = word[index] as string;
  return VOWELS.includes(letter) ? false : letter !== 'y' || index === 0 || !isConsonant(word, index - 1);
};

/** How often a vowel is followed by a consonant. */
const measure = (stem: string): number => {
  let count = 0;
  for (let index = 1; index < stem.length; index += 1)
    if (isConsonant(stem, index) && !isConsonant(stem, index - 1)) count += 1;
  return count;
};

const hasVowel = (stem: string): boolean => [...stem].some((_, index) => !isConsonant(stem, index));

const endsInDouble = (word: string): boolean =>
  word.at(-1) === word.at(-2) && word.length > 1 && isConsonant(word, word.length - 1);

const endsInShortSyllable = (word: string): boolean => {
  const last = word.length - 1;
  return (
    last >= 2 &&
    isConsonant(word, last) &&
    !isConsonant(word, last - 1) &&
    isConsonant(word, last - 2) &&
    !/[wxy]$/.test(word)
  );
};

const withoutPlural = (word: string): string => {
  if (word.endsWith('sses')) return word.slice(0, -2);
  if (word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
};

const withoutPastTense = (word: string): string => {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const stem = /^(.*)(?:ed|ing)$/.exec(word)?.[1];
  if (stem === undefined || !hasVowel(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (endsInDouble(stem) && !/[lsz]$/.test(stem)) return stem.slice(0, -1);
  return measure(stem) === 1 && endsInShortSyllable(stem) ? `${stem}e` : stem;
};

const finalYToI = (word: string): string =>
  word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;

const replaced = (word: string, endings: readonly Ending[]): string => {
  const found = endings.find(([ending]) => word.endsWith(ending));
  if (found === undefined) return word;
  const stem = word.slice(0, -found[0].length);
  return measure(stem) > 0 ? stem + found[1] : word;
};

const withoutSuffix = (word: string): string => {
  const suffix = STEP_4.filter((ending) => word.endsWith(ending)).toSorted((a, b) => b.length - a.length)[0];
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  return measure(stem) > 1 && (suffix !== 'ion' || /[st]$/.test(stem)) ? stem : word;
};

const withoutFinalE = (word: string): string => {
  const stem = word.endsWith('e') ? word.slice(0, -1) : word;
  const shorter =
    stem !== word && (measure(stem) > 1 || (measure(stem) === 1 && !endsInShortSyllable(stem))) ? stem : word;
  return shorter.endsWith('ll') && measure(shorter.slice(0, -1)) > 1 ? shorter.slice(0, -1) : shorter;
};

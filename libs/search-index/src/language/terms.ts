import { LRUCache } from 'lru-cache';
import { stemmer } from 'stemmer';
import { germanStem } from './german-stemmer';
import { joinedCodes, otherSpacings } from './joined';
import { folded, foldedWords, writtenWords } from './words';

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Words that carry no subject, question words among them; folded. They tell the languages apart and are left out of queries. */
const ENGLISH_STOP_WORDS = set(`
  a about above after again all also am an and any are as at be because been before being between both but by can could did do does
  doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just let
  me might more most must my no nor not now of off on once only or other our ours out over own please same shall she should so some
  such tell than that the their theirs them then there these they this those through to too under until up us very was we were what
  whats when where which while who whom whose why will with would you your yours
`);

const GERMAN_STOP_WORDS = set(`
  aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei beim bin bis bist bitte
  da damit dann das dass dein deine dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine
  einem einen einer eines er es etwas euch fur gegen gewesen gibt hab habe haben hat hatte hatten hier hin ich ihm ihn ihnen ihr ihre
  ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinem keinen konnen konnte lasst mal man mein
  meine mich mir mit muss mussen nach nicht nichts noch nun nur ob oder ohne sehr sein seine sich sie sind so soll sollen sondern um
  und uns unser unter viel vom von vor wann warum was weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will
  wird wo wodurch woher wohin womit wurde wurden zu zum zur zwar zwischen
`);

/** A language whose words are stemmed. */
export type Language = 'en' | 'de';

/** Most words of a query that are looked up, and terms that they make, and most characters of it that are read. */
const MAX_QUERY_WORDS = 64;
const MAX_QUERY_CHARACTERS = 20_000;
const MAX_QUERY_CODES = 8;

/** What is stemmed as English: words of its letters alone. */
const ENGLISH = /^[a-z]+$/;

/** A word whose umlauts are written as two letters, as Elasticsearch reads them (`german_normalization`): in `neue`, `bauen` and `Quelle` there are none. */
const withUmlauts = (word: string): string => word.replace(/([ao]|(?<![aeioquy])u)e/g, '$1');

const stemsOf = {
  en: (word: string) => (ENGLISH.test(word) ? stemmer(word) : word),
  de: (word: string) => germanStem(withUmlauts(word)),
};
const stems = { en: new LRUCache<string, string>({ max: 50_000 }), de: new LRUCache<string, string>({ max: 50_000 }) };

/** Letters of German that English has not, also written as two characters. */
const GERMAN_LETTERS = /[äöüß]|[aou]\u0308/i;

/** The language whose stop words occur more often. Where neither leads, as in a few words, German if they have its letters, else English. */
export const languageOf = (texts: readonly string[]): Language => {
  let lead = 0;
  for (const text of texts) lead += leadOfEnglish(foldedWords(text));
  return lead < 0 || (lead === 0 && texts.some((text) => GERMAN_LETTERS.test(text))) ? 'de' : 'en';
};

/** What the full-text index holds of a text: stems with spaces between them, and codes written in one. */
export const indexedTerms = (texts: readonly string[], language: Language): string =>
  texts.flatMap((text) => [...foldedWords(text), ...foldedCodes(text)].map((word) => stem(word, language))).join(' ');

const foldedCodes = (text: string): readonly string[] => joinedCodes(text).flatMap(foldedWords);

/** A text in the letters that it is compared by: lower case without accents, ae, oe and ue read as umlauts. */
export const plainLetters = (text: string): string => withUmlauts(folded(text));

/**
 * The words of a query as written. A repeated word counts again. Leaves out stop words and question words of the
 * query's language, or of both languages if it has as many of each, unless nothing else is left.
 */
export const askedWords = (text: string): readonly string[] => {
  const all = writtenWords(text.slice(0, MAX_QUERY_CHARACTERS));
  const lead = leadOfEnglish(all.map(folded));
  const telling = all
    .map((word) => ({ word, folding: folded(word) }))
    .filter(
      ({ folding }) =>
        !(lead >= 0 && ENGLISH_STOP_WORDS.has(folding)) && !(lead <= 0 && GERMAN_STOP_WORDS.has(folding)),
    );
  return beginning((telling.length > 0 ? telling.map(({ word }) => word) : all).slice(0, MAX_QUERY_WORDS));
};

/** As many words, and as much of the last one, as make the most terms that are looked up. */
const beginning = (asked: readonly string[]): readonly string[] => {
  let room = MAX_QUERY_WORDS;
  return asked.flatMap((word) => {
    if (room <= 0) return [];
    const terms = foldedWords(word).length;
    const kept = terms > room ? [...word].slice(0, room + 1).join('') : word;
    room -= terms;
    return [kept];
  });
};

/**
 * The terms of a query: the stems of its words in either language, the same word at the same place, `respelled` those of English
 * where umlauts are written the other way: a German name in an English text, and `joined` the different stems of its codes in one and of
 * its numbers with units as they are spaced otherwise.
 */
export type Terms = Readonly<Record<Language | 'respelled' | 'joined', readonly string[]>>;

/** The terms of a query. */
export const queryTerms = (text: string): Terms => {
  const written = askedWords(text).join(' ');
  const asked = foldedWords(written).slice(0, MAX_QUERY_WORDS);
  const other = inTwoLetters(written);
  const respelled = other === written ? asked : foldedWords(other).slice(0, MAX_QUERY_WORDS);
  return {
    en: asked.map((word) => stem(word, 'en')),
    de: asked.map((word) => stem(word, 'de')),
    respelled: respelled.map((word, at) => stem(word === asked[at] ? withUmlauts(word) : word, 'en')),
    joined: [
      ...new Set(
        askedCodes(text)
          .flatMap(foldedWords)
          .flatMap((word) => [stem(word, 'en'), stem(word, 'de')]),
      ),
    ],
  };
};

/** The codes of a query in one, as written, and its numbers with their units as they are spaced otherwise. */
export const askedCodes = (text: string): readonly string[] => {
  const asked = text.slice(0, MAX_QUERY_CHARACTERS);
  return [...new Set([...joinedCodes(asked), ...otherSpacings(asked)])].slice(0, MAX_QUERY_CODES);
};

const inTwoLetters = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[\u00e4\u00f6\u00fc\u00c4\u00d6\u00dc]/g, (letter) => `${letter.normalize('NFD').charAt(0)}e`);

/** How many more words are stop words of English than of German. */
const leadOfEnglish = (foldings: readonly string[]): number =>
  foldings.reduce((lead, word) => lead + Number(ENGLISH_STOP_WORDS.has(word)) - Number(GERMAN_STOP_WORDS.has(word)), 0);

const stem = (word: string, language: Language): string => {
  const known = stems[language].get(word);
  if (known !== undefined) return known;
  const made = stemsOf[language](word);
  stems[language].set(word, made);
  return made;
};

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
export const termsOf = (text: string): string[] =>
  (text.normalize('NFKC').replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP_WORDS.has(word)).map(stem);

/** A light English stem: enough that `keys` meets `key` and `encrypted` meets `encrypt`. */
const stem = (word: string): string => {
  if (word.length < 4 || /\d/.test(word)) return word;
  const base = word
    .replace(/(?:ies)$/, 'y')
    .replace(/(?:sses)$/, 'ss')
    .replace(/(?:ations?|ating|ated)$/, 'ate')
    .replace(/(?:ing|ed)$/, '')
    .replace(/([^s])s$/, '$1')
    .replace(/e$/, '');
  return base.length < 3 ? word : base;
};

/** A text's terms against the terms of a question, weighted by how rare each is among all the texts compared. */
export class Relevance {
  private readonly question: ReadonlySet<string>;
  private readonly weights = new Map<string, number>();
  private readonly total: number;

  constructor(question: string, texts: readonly string[]) {
    this.question = new Set(termsOf(question));
    const termSets = texts.map((text) => new Set(termsOf(text)));
    for (const term of this.question) {
      const holding = termSets.filter((terms) => terms.has(term)).length;
      this.weights.set(term, Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5)));
    }
    this.total = [...this.weights.values()].reduce((sum, weight) => sum + weight, 0);
  }

  /** The share of the question's weight that the text's terms cover, 0 to 1. */
  of(text: string): number {
    if (this.total === 0) return 0;
    const terms = new Set(termsOf(text));
    let covered = 0;
    for (const [term, weight] of this.weights) if (terms.has(term)) covered += weight;
    return covered / this.total;
  }
}

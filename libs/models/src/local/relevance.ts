import { atOnce, timeSliced, type Stepwise } from './time-sliced';
import { QuestionTerms } from './question-terms';

/**
 * The share of the question's weight that each text's terms cover, 0 to 1, in order. A term weighs the more, the rarer it is
 * among the texts. For texts of any number and length: others run in between.
 */
export const relevancesOf = (
  question: string,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<readonly number[]> => timeSliced(relevances(question, texts), signal);

/** The same in one go, for a passage or two. */
export const relevancesAtOnce = (question: string, texts: readonly string[]): readonly number[] =>
  atOnce(relevances(question, texts));

function* relevances(question: string, texts: readonly string[]): Stepwise<readonly number[]> {
  const { terms, held } = yield* weighed(question, texts);
  const shares: number[] = [];
  for (const places of held) {
    shares.push(terms.share(places));
    yield;
  }
  return shares;
}

/** The terms of a question with their weights among the texts, and which of them each text holds. */
function* weighed(
  question: string,
  texts: readonly string[],
): Stepwise<{ readonly terms: QuestionTerms; readonly held: readonly (readonly number[])[] }> {
  const terms = yield* QuestionTerms.of(question);
  const held: (readonly number[])[] = [];
  for (const text of texts) held.push(yield* terms.in(text));
  yield* terms.weigh(held);
  return { terms, held };
}

/** A few short texts' terms against those of a question, weighted by how rare each is among all the texts compared. */
export class Relevance {
  private readonly terms: QuestionTerms;

  constructor(question: string, texts: readonly string[]) {
    this.terms = atOnce(weighed(question, texts)).terms;
  }

  /** Whether the question names it. */
  asks(term: string): boolean {
    return this.terms.has(term);
  }

  /** The share of the question's weight that the text's terms cover, 0 to 1. */
  of(text: string): number {
    return this.terms.share(atOnce(this.terms.in(text)));
  }
}

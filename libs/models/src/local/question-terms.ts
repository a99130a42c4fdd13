import type { Stepwise } from './time-sliced';
import { ENDING, termsIn } from './terms';

/** Terms that are handled without letting others run. */
const STRIDE = 4_096;
/** Where a text holds more than one in so many terms of the question, those are gone through in order, rather than its own sorted. */
const FEW = 64;
/** Most texts hold nothing of a question. */
const NONE: readonly number[] = [];

/** The different terms of a question in order, each known by its place, and what each of them weighs. */
export class QuestionTerms {
  private readonly places = new Map<string, number>();
  private readonly weights: number[] = [];
  private total = 0;
  /** Characters of the longest: no longer word of a text need be put together. */
  private longest = 0;

  static *of(question: string): Stepwise<QuestionTerms> {
    const terms = new QuestionTerms();
    for (const batch of termsIn(question)) {
      for (const term of batch) {
        if (!terms.places.has(term)) terms.places.set(term, terms.places.size);
        terms.longest = Math.max(terms.longest, term.length);
      }
      yield;
    }
    return terms;
  }

  has(term: string): boolean {
    return this.places.has(term);
  }

  /** The places of those that a text holds, ascending: sums in another order would differ in their last digit. */
  *in(text: string): Stepwise<readonly number[]> {
    const found = new Set<number>();
    for (const batch of termsIn(text, this.longest + ENDING)) {
      for (const term of batch) {
        const place = this.places.get(term);
        if (place !== undefined) found.add(place);
      }
      yield;
    }
    if (found.size === 0) return NONE;
    if (found.size * FEW < this.places.size) return [...found].sort((a, b) => a - b);
    const sorted: number[] = [];
    for (let place = 0; place < this.places.size; place += 1) {
      if (found.has(place)) sorted.push(place);
      if (place % STRIDE === STRIDE - 1) yield;
    }
    return sorted;
  }

  /** Weighs each by how rare it is among texts, given as the places that each holds. */
  *weigh(texts: readonly (readonly number[])[]): Stepwise<void> {
    const holding = new Uint32Array(this.places.size);
    for (const [index, places] of texts.entries()) {
      for (const place of places) holding[place] = (holding[place] as number) + 1;
      if (places.length > STRIDE || index % STRIDE === STRIDE - 1) yield;
    }
    for (const [place, count] of holding.entries()) {
      this.weights[place] = Math.log(1 + (texts.length - count + 0.5) / (count + 0.5));
      this.total += this.weights[place];
      if (place % STRIDE === STRIDE - 1) yield;
    }
  }

  /** The share of the question's weight at some places, 0 to 1. */
  share(places: readonly number[]): number {
    if (this.total === 0) return 0;
    let covered = 0;
    for (const place of places) covered += this.weights[place] as number;
    return covered / this.total;
  }
}

import { relevancesAtOnce, type Sentence, sentencesOf } from '@app/models';

/** Longest quotation, characters (wire, Message). */
const MAX_QUOTE = 400;
/** A neighbour joins the quotation when it covers at least this share of the statement. */
const NEIGHBOUR_SHARE = 0.3;

/** A quotation by its place in the passage (end exclusive). */
export interface Quote {
  readonly start: number;
  readonly end: number;
}

/**
 * The sentence of a passage that supports a statement best, with a neighbour where that one supports it too: verbatim, at
 * most 400 characters, never a heading. Undefined for a passage without a sentence.
 */
export const quoteFor = (statement: string, passage: string): Quote | undefined => {
  const sentences = sentencesOf(passage);
  const texts = sentences.map(({ start, end }) => passage.slice(start, end));
  const shares = relevancesAtOnce(statement, texts);
  const best = shares.reduce((top, share, index) => (share > (shares[top] as number) ? index : top), 0);
  const sentence = sentences[best];
  if (sentence === undefined) return undefined;
  const neighbours = [best - 1, best + 1]
    .filter((index) => (shares[index] ?? 0) >= NEIGHBOUR_SHARE && texts[index] !== texts[best])
    .toSorted((a, b) => (shares[b] as number) - (shares[a] as number));
  for (const index of neighbours) {
    const neighbour = sentences[index] as Sentence;
    const joined = { start: Math.min(sentence.start, neighbour.start), end: Math.max(sentence.end, neighbour.end) };
    if (
      joined.end - joined.start <= MAX_QUOTE &&
      isPlain(passage.slice(joined.start, joined.end), texts[best] as string, texts[index] as string)
    )
      return joined;
  }
  return { start: sentence.start, end: Math.min(sentence.end, sentence.start + MAX_QUOTE) };
};

/** True when nothing but white space stands between the two: no heading, no list mark. */
const isPlain = (joined: string, a: string, b: string): boolean => joined.replace(a, '').replace(b, '').trim() === '';

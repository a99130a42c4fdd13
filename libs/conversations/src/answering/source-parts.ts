import { createHash } from 'node:crypto';
import { placeOf } from '@app/kernel';
import { relevancesAtOnce, type Sentence, sentencesOf, termsOf } from '@app/models';
import type { SourceDocumentPart } from '../conversation/message-parts';
import type { Citation } from './citations';
import type { RetrievedPassage } from './retriever';

/** A source is quoted for the statements that cite it first: a model may cite it thousands of times. */
const STATEMENTS = 8;

/** The sources that an answer cites, in order of first use. */
export const sourceParts = (
  answer: string,
  citations: readonly Citation[],
  passages: readonly RetrievedPassage[],
): readonly SourceDocumentPart[] => {
  const cited = new Map<number, Citation[]>();
  for (const citation of citations) {
    const uses = cited.get(citation.number);
    if (uses === undefined) cited.set(citation.number, [citation]);
    else if (uses.length < STATEMENTS) uses.push(citation);
  }
  return [...cited.values()].flatMap((uses) => {
    const passage = passages[(uses[0] as Citation).source - 1];
    return passage === undefined ? [] : [partOf(passage, uses.map(({ at }) => statementAt(answer, at)).join(' '))];
  });
};

const partOf = (passage: RetrievedPassage, statement: string): SourceDocumentPart => {
  const { documentId, documentName, documentRevision, mediaType, headings } = passage;
  const { chunkId, text, start, end } = citedChunk(passage, statement);
  const quote = quoteFor(statement, text);
  const heading = headings.at(-1);
  // What was edited by hand does not stand in the text as it is quoted.
  const isOfText = text.length === end - start;
  return {
    type: 'source-document',
    sourceId: chunkId,
    documentId,
    documentRevision,
    chunkHash: createHash('sha256').update(text).digest('hex'),
    title: documentName,
    mediaType,
    position: {
      ...(quote === undefined || !isOfText ? { start, end } : { start: start + quote.start, end: start + quote.end }),
      ...placeOf(passage),
      ...(heading === undefined ? {} : { heading }),
    },
    quote: text.slice(quote?.start ?? 0, quote?.end ?? MAX_QUOTE).toWellFormed(),
  };
};

/** The chunk of a passage that supports a statement best. */
const citedChunk = ({ chunks }: RetrievedPassage, statement: string): RetrievedPassage['chunks'][number] => {
  const texts = chunks.map(({ text }) => text);
  const shares = chunks.length === 1 ? [1] : relevancesAtOnce(statement, texts);
  return chunks[shares.indexOf(Math.max(...shares))] as RetrievedPassage['chunks'][number];
};

/** The sentence of the answer that a mark stands at the end of. */
const statementAt = (answer: string, at: number): string => {
  const before = answer.slice(Math.max(0, at - 600), at).replace(/(?:\s*\[\d+\])+\s*$/, '');
  const sentences = sentencesOf(before).map(({ start, end }) => before.slice(start, end));
  return sentences.findLast((sentence) => termsOf(sentence).length > 0) ?? before;
};

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

import { createHash } from 'node:crypto';
import { sentencesOf, termsOf } from '@app/models';
import type { SourceDocumentPart } from '../conversation/message-parts';
import type { Citation } from './citations';
import { quoteFor } from './quote';
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
  const { chunkId, documentId, documentName, documentRevision, mediaType, text, headings, start, end, page } = passage;
  const quote = quoteFor(statement, text);
  const heading = headings.at(-1);
  return {
    type: 'source-document',
    sourceId: chunkId,
    documentId,
    documentRevision,
    chunkHash: createHash('sha256').update(text).digest('hex'),
    title: documentName,
    mediaType,
    position: {
      ...(quote === undefined ? { start, end } : { start: start + quote.start, end: start + quote.end }),
      ...(page === undefined ? {} : { page }),
      ...(heading === undefined ? {} : { heading }),
    },
    quote: quote === undefined ? text.slice(0, 400) : text.slice(quote.start, quote.end),
  };
};

/** The sentence of the answer that a mark stands at the end of. */
const statementAt = (answer: string, at: number): string => {
  const before = answer.slice(Math.max(0, at - 600), at).replace(/(?:\s*\[\d+\])+\s*$/, '');
  const sentences = sentencesOf(before).map(({ start, end }) => before.slice(start, end));
  return sentences.findLast((sentence) => termsOf(sentence).length > 0) ?? before;
};

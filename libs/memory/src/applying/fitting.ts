import { indexedTerms, languageOf, queryTerms } from '@app/search-index';

/** A memory that may be applied. */
export interface Candidate {
  readonly memoryId: string;
  readonly text: string;
  readonly tokens: number;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/**
 * The memories that an answer is given, in order: all of them, the newest first, where they fit into `most` tokens together. Otherwise those that
 * share the most words with the question come first, and of those that share as many the newest; one that does not fit leaves its room to the next.
 */
export const fitting = <C extends Candidate>(memories: readonly C[], question: string, most: number): readonly C[] => {
  const newest = memories.toSorted(newestFirst);
  if (newest.reduce((sum, { tokens }) => sum + tokens, 0) <= most) return newest;
  const relevance = relevanceTo(question);
  const ranked = newest
    .map((memory) => ({ memory, shared: relevance(memory.text) }))
    .toSorted((a, b) => b.shared - a.shared || newestFirst(a.memory, b.memory));
  let room = most;
  return ranked.flatMap(({ memory }) => {
    if (memory.tokens > room) return [];
    room -= memory.tokens;
    return [memory];
  });
};

const newestFirst = (a: Candidate, b: Candidate): number =>
  a.updatedAt === b.updatedAt ? (a.memoryId < b.memoryId ? 1 : -1) : a.updatedAt < b.updatedAt ? 1 : -1;

/** How many words of the question a text has, in any form of German or English. */
const relevanceTo = (question: string): ((text: string) => number) => {
  const asked = queryTerms(question);
  return (text) => {
    const language = languageOf([text]);
    const terms = new Set(indexedTerms([text], language).split(' '));
    return new Set(asked[language].filter((term) => terms.has(term))).size;
  };
};

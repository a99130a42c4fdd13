import { nameId } from '@app/kernel';
import type { StoredPassage } from '@app/search-index';
import type { Span } from './chunk-limits';
import type { Former } from './kept-edits';

/**
 * Cuts the chunks of a text where a disabled chunk of the same text begins or ends, so that what was taken out stays out however
 * the text is cut now, and nothing beside it goes with it. A chunk that was there before is left whole: whoever disabled its
 * neighbour, which repeats a part of it, left it.
 */
export const cutAtDisabled = <P extends StoredPassage>(
  documentId: string,
  chunks: readonly P[],
  { passages, text }: Former,
): readonly P[] => {
  const cuts = cutsOf(passages);
  if (cuts.length === 0) return chunks;
  const former = new Set(passages.map(keyOf));
  let before: readonly P[] = [];
  const cut = chunks.flatMap((chunk): readonly P[] => {
    const isOfText = text.slice(chunk.start, chunk.end) === chunk.text;
    const within = isOfText && !former.has(keyOf(chunk)) ? between(cuts, chunk) : [];
    const found = within.length === 0 ? [chunk] : pieces(documentId, chunk, within);
    // Of what it repeats of the chunk before, a piece would be nothing but that.
    const news = found.filter((piece) => !before.some((other) => other.start <= piece.start && piece.end <= other.end));
    before = found;
    return news;
  });
  return cut.length === chunks.length ? chunks : cut.map((chunk, ordinal) => ({ ...chunk, ordinal }));
};

const keyOf = ({ start, end }: Span): string => `${start}-${end}`;

/** Where what only disabled chunks hold begins and ends, in order. */
const cutsOf = (passages: readonly StoredPassage[]): readonly number[] => {
  const shown = inOrder(passages.filter(({ enabled }) => enabled));
  const cuts = new Set<number>();
  let next = 0;
  for (const { start, end } of inOrder(passages.filter(({ enabled }) => !enabled))) {
    let from = start;
    while ((shown[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1;
    for (let at = next; (shown[at]?.start ?? Number.POSITIVE_INFINITY) < end; at += 1) {
      const other = shown[at] as Span;
      if (other.start > from) cuts.add(from).add(other.start);
      from = Math.max(from, other.end);
    }
    if (from < end) cuts.add(from).add(end);
  }
  return [...cuts].toSorted((a, b) => a - b);
};

const inOrder = (spans: readonly Span[]): readonly Span[] =>
  spans.toSorted((a, b) => a.start - b.start || a.end - b.end);

/** The cuts inside a chunk. */
const between = (cuts: readonly number[], { start, end }: Span): readonly number[] => {
  let [low, high] = [0, cuts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cuts[middle] as number) <= start) low = middle + 1;
    else high = middle;
  }
  let last = low;
  while ((cuts[last] ?? Number.POSITIVE_INFINITY) < end) last += 1;
  return cuts.slice(low, last);
};

/** The parts of a chunk, without the white space between them. */
const pieces = <P extends StoredPassage>(documentId: string, chunk: P, cuts: readonly number[]): readonly P[] =>
  [...cuts, chunk.end].flatMap((end, index): readonly P[] => {
    const start = cuts[index - 1] ?? chunk.start;
    const part = chunk.text.slice(start - chunk.start, end - chunk.start);
    const text = part.trim();
    if (text === '') return [];
    const from = start + part.length - part.trimStart().length;
    return [
      {
        ...chunk,
        chunkId: nameId(documentId, `${chunk.chunkId}:${from}-${from + text.length}`),
        text,
        start: from,
        end: from + text.length,
      },
    ];
  });

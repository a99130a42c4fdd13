import { nameId } from '@app/kernel';
import type { StoredPassage } from '@app/search-index';
import type { Span } from './chunk-limits';
import { type PreviousContent, type PlacedEdit, placedEdits, spanKey, stayed } from './placed-edits';

/**
 * Cuts the chunks of a text at the edges of edited and disabled chunks, so replaced or removed text stays so with any
 * chunking, and the text around it is not lost. The text of an edited chunk is one chunk again. An existing chunk stays
 * whole: when a user edited its neighbour, which repeats a part of it, they left this one.
 */
export const cutAtEdits = <P extends StoredPassage>(
  documentId: string,
  chunks: readonly P[],
  previous: PreviousContent,
  text: string,
): readonly P[] => {
  const placed = placedEdits(previous, text, chunks);
  const rewritten = placed.filter(({ edit }) => edit.edited === true);
  const cuts = sorted([...rewritten.flatMap(({ start, end }) => [start, end]), ...hiddenEdges(previous, placed)]);
  if (cuts.length === 0) return chunks;
  const whole = stayed(previous, text, placed);
  let before: readonly P[] = [];
  const beside = chunks.flatMap((chunk): readonly P[] => {
    const isOfText = text.slice(chunk.start, chunk.end) === chunk.text;
    const isCut = isOfText && !whole.has(spanKey(chunk));
    const found = isCut
      ? pieces(documentId, chunk, between(cuts, chunk)).filter((piece) => !rewritten.some((span) => isIn(piece, span)))
      : [chunk];
    // Of what it repeats of the chunk before, a piece would be nothing but that.
    const news = found.filter((piece) => !before.some((other) => isIn(piece, other)));
    before = found;
    return news;
  });
  const there = new Set(beside.map(spanKey));
  const again = rewritten.flatMap((span) => (there.has(spanKey(span)) ? [] : wholeOf(documentId, chunks, span, text)));
  if (again.length === 0 && beside.length === chunks.length && beside.every((chunk, index) => chunk === chunks[index]))
    return chunks;
  const cut = again.length === 0 ? beside : inOrder([...beside, ...again]);
  return cut.map((chunk, ordinal) => ({ ...chunk, ordinal }));
};

const isIn = (piece: Span, { start, end }: Span): boolean => start <= piece.start && piece.end <= end;

/**
 * Begin and end of text that only disabled chunks contain, at its present place. An edited chunk replaces all of its
 * text.
 */
const hiddenEdges = ({ passages }: PreviousContent, placed: readonly PlacedEdit[]): readonly number[] => {
  const hidden = placed.filter(({ edit }) => !edit.enabled && edit.edited !== true);
  const shown = inOrder(passages.filter(({ enabled }) => enabled));
  const edges: number[] = [];
  let next = 0;
  for (const { edit, start: now } of hidden.toSorted((a, b) => a.edit.start - b.edit.start)) {
    const moves = now - edit.start;
    let from = edit.start;
    while ((shown[next]?.end ?? Number.POSITIVE_INFINITY) <= edit.start) next += 1;
    for (let at = next; (shown[at]?.start ?? Number.POSITIVE_INFINITY) < edit.end; at += 1) {
      const other = shown[at] as Span;
      if (other.start > from) edges.push(from + moves, other.start + moves);
      from = Math.max(from, other.end);
    }
    if (from < edit.end) edges.push(from + moves, edit.end + moves);
  }
  return edges;
};

const sorted = (cuts: readonly number[]): readonly number[] => [...new Set(cuts)].toSorted((a, b) => a - b);

const inOrder = <S extends Span>(spans: readonly S[]): readonly S[] =>
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
  cuts.length === 0
    ? [chunk]
    : [...cuts, chunk.end].flatMap((end, index): readonly P[] => {
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

/** The chunk of an edit; its headings and its place are those of the chunk where it begins now. */
const wholeOf = <P extends StoredPassage>(
  documentId: string,
  chunks: readonly P[],
  { start, end }: Span,
  text: string,
): readonly P[] => {
  const chunk = chunks.find((each) => each.end > start);
  if (chunk === undefined) return [];
  const chunkId = nameId(documentId, `edited:${start}-${end}`);
  return [{ ...chunk, chunkId, text: text.slice(start, end), start, end }];
};

import { type Block, type Extraction, linesOf } from '@app/extraction/threads';
import { isSamePlace, type Place } from '@app/kernel/threads';
import { sentencesOf } from '@app/models/threads';
import type { ChunkLimits, Span } from './chunk-limits';

const MAX_TITLE = 300;

/** A piece of a text: `text.slice(start, end)`, with the headings above it, outermost first, and its place in the file. */
export interface Chunk {
  readonly headings: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly place?: Place;
}

type Heading = Block & { readonly level: number };

/** A part of a block, or all of it. */
type Piece = Span & Pick<Block, 'kind'>;

/**
 * Cuts a text into chunks that never cross a heading or a place of the file (a page, a slide, a row), and that end with
 * whole sentences or lines if possible. Each repeats as many of the previous chunk's last sentences or lines as the
 * limits allow. Headings without text below them are chunks of their own, because no other chunk has their words.
 */
export const chunksOf = ({ text, blocks }: Extraction, limits: ChunkLimits): readonly Chunk[] => {
  const chunks: Chunk[] = [];
  let headings: readonly { readonly level: number; readonly title: string }[] = [];
  let pieces: Piece[] = [];
  let place: Place | undefined;
  /** The last heading, while there is no text under it; and earlier ones of its level without text. */
  let bare: Heading | undefined;
  let outline: Heading[] = [];
  const push = (all: readonly Piece[], under: typeof headings, at: Place | undefined): void => {
    const path = under.map(({ title }) => title).filter((title) => title !== '');
    for (const { start, end } of filled(text, all, limits))
      chunks.push({ headings: path, start, end, ...(at && { place: at }) });
  };
  const close = (): void => {
    push(pieces, headings, place);
    pieces = [];
  };
  const closeOutline = (): void => {
    const [first] = outline;
    if (first === undefined) return;
    const above = headings.filter(({ level }) => level < first.level);
    push(
      outline.flatMap((heading) => piecesOf(text, heading, limits)),
      above,
      first.place,
    );
    outline = [];
  };
  for (const block of blocks) {
    if (block.level !== undefined && bare !== undefined && block.level <= bare.level) outline.push(bare);
    if (block.level !== outline[0]?.level || !isSamePlace(outline[0]?.place, block.place)) closeOutline();
    if (!isSamePlace(place, block.place)) close();
    place = block.place;
    if (block.level === undefined) {
      for (const piece of piecesOf(text, block, limits)) pieces.push(piece);
      if (pieces.length > 0) bare = undefined;
    } else {
      close();
      const { level, title = '' } = block;
      bare = { ...block, level };
      headings = [...headings.filter((above) => above.level < level), { level, title: plainTitle(title) }];
    }
  }
  close();
  if (bare !== undefined) outline.push(bare);
  closeOutline();
  return chunks;
};

/** A block whole where it fits, else its sentences or lines, else as many of their words as fit. */
const piecesOf = (text: string, block: Block, limits: ChunkLimits): readonly Piece[] =>
  limits.piece(block)
    ? [block]
    : partsOf(text, block).flatMap((part) =>
        limits.piece(part) ? [part] : joined(limits.words(part), limits.piece).map((span) => ({ ...part, ...span })),
      );

/** The sentences or lines of a piece. */
const partsOf = (text: string, { kind, start, end }: Piece): readonly Piece[] =>
  (kind === 'lines' ? linesIn(text, { start, end }) : sentencesIn(text, { start, end })).map((part) => ({
    kind,
    ...part,
  }));

/** Joins neighbours as long as they fit together. */
const joined = (spans: readonly Span[], fits: (span: Span) => boolean): readonly Span[] => {
  const found: Span[] = [];
  for (const span of spans) {
    const last = found.at(-1);
    const both: Span = { start: (last ?? span).start, end: span.end };
    if (last !== undefined && fits(both)) found[found.length - 1] = both;
    else found.push(span);
  }
  return found;
};

/** Chunks of the pieces between two headings. */
const filled = (text: string, pieces: readonly Piece[], limits: ChunkLimits): readonly Span[] => {
  const chunks: Span[] = [];
  let open: Piece[] = [];
  let begin = 0;
  for (const piece of pieces) {
    if (open.length === 0) begin = piece.start;
    else if (!limits.chunk({ start: begin, end: piece.end })) {
      const closed = { start: begin, end: (open.at(-1) as Piece).end };
      chunks.push(closed);
      begin = overlapOf(text, closed, open, limits, piece) ?? piece.start;
      open = [];
    }
    open.push(piece);
  }
  return open.length === 0 ? chunks : [...chunks, { start: begin, end: (open.at(-1) as Piece).end }];
};

/** Where the next chunk begins inside the previous one; undefined if they do not overlap. */
const overlapOf = (
  text: string,
  { start, end }: Span,
  pieces: readonly Piece[],
  limits: ChunkLimits,
  next: Piece,
): number | undefined => {
  const { overlap } = limits;
  if (overlap === null) return undefined;
  const isPossible = (from: number): boolean =>
    from > start && overlap({ start: from, end }) && limits.chunk({ start: from, end: next.end });
  const firstPossible = (starts: readonly number[]): number | undefined => {
    let found: number | undefined;
    for (const from of starts.toReversed()) {
      if (!isPossible(from)) break;
      found = from;
    }
    return found;
  };
  let found: number | undefined;
  for (const piece of pieces.toReversed()) {
    const earliest = firstPossible(partsOf(text, piece).map((part) => part.start));
    if (earliest === undefined) break;
    found = earliest;
    if (earliest > piece.start) break;
  }
  const last = pieces.at(-1) as Piece;
  return found ?? firstPossible(limits.words(last).map((word) => word.start));
};

const linesIn = (text: string, block: Span): readonly Span[] =>
  linesOf(text.slice(block.start, block.end))
    .filter((line) => line.text.trim() !== '')
    .map(({ start, end }) => ({ start: block.start + start, end: block.start + end }));

/** Sentence ends cut the block; anything between sentences (markers) belongs to the next sentence. */
const sentencesIn = (text: string, { start, end }: Span): readonly Span[] => {
  const ends = sentencesOf(text.slice(start, end)).map((sentence) => start + sentence.end);
  const cuts = [...ends.slice(0, -1), end];
  return cuts
    .map((cut, index) => trimmed(text, { start: index === 0 ? start : (cuts[index - 1] as number), end: cut }))
    .filter((span) => span.end > span.start);
};

const trimmed = (text: string, { start, end }: Span): Span => {
  const piece = text.slice(start, end);
  return { start: start + piece.length - piece.trimStart().length, end: end - (piece.length - piece.trimEnd().length) };
};

/** A heading without its emphasis, code marks and link targets; what is longer than a heading is cut. */
const plainTitle = (title: string): string =>
  title
    .slice(0, MAX_TITLE)
    .toWellFormed()
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`]+/g, '')
    .trim();

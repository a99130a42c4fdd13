import { type Block, type Extraction, linesOf } from '@app/extraction';
import { isSamePlace, type Place } from '@app/kernel';
import { sentencesOf } from '@app/models';

/** Most words in a chunk: measured best for the small embedding model, which sees no more. */
export const MAX_WORDS = 100;
/** Most characters in a chunk, for texts whose words have no end. */
export const MAX_CHARACTERS = 1_500;

const MAX_TITLE = 300;

/** A piece of a text: `text.slice(start, end)`, with the headings above it, outermost first, and its place in the file. */
export interface Chunk {
  readonly headings: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly place?: Place;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Cuts a text into chunks that never cross a heading or a place of the file (a page, a slide, a row), end with whole sentences or lines where they can, and do not overlap. */
export const chunksOf = ({ text, blocks }: Extraction): readonly Chunk[] => {
  const chunks: Chunk[] = [];
  let headings: readonly { readonly level: number; readonly title: string }[] = [];
  let pieces: Span[] = [];
  let place: Place | undefined;
  const close = (): void => {
    const path = headings.map(({ title }) => title).filter((title) => title !== '');
    for (const { start, end } of filled(text, pieces))
      chunks.push({ headings: path, start, end, ...(place && { place }) });
    pieces = [];
  };
  for (const block of blocks) {
    if (!isSamePlace(place, block.place)) close();
    place = block.place;
    if (block.level === undefined) for (const piece of piecesOf(text, block)) pieces.push(piece);
    else {
      close();
      const { level, title = '' } = block;
      headings = [...headings.filter((above) => above.level < level), { level, title: plainTitle(title) }];
    }
  }
  close();
  return chunks;
};

/** A block whole where it fits, else its sentences or lines, else pieces of those. */
const piecesOf = (text: string, block: Block): readonly Span[] => {
  if (fits(text, block)) return [block];
  const parts = block.kind === 'lines' ? linesIn(text, block) : sentencesIn(text, block);
  return parts.flatMap((part) => (fits(text, part) ? [part] : words(text, part)));
};

/** Joins neighbours as long as they fit in one chunk. */
const filled = (text: string, pieces: readonly Span[]): readonly Span[] => {
  const chunks: Span[] = [];
  let open: Span | undefined;
  for (const piece of pieces) {
    const joined: Span = open === undefined ? piece : { start: open.start, end: piece.end };
    if (open !== undefined && !fits(text, joined)) {
      chunks.push(open);
      open = piece;
    } else open = joined;
  }
  return open === undefined ? chunks : [...chunks, open];
};

const fits = (text: string, { start, end }: Span): boolean =>
  end - start <= MAX_CHARACTERS && wordCount(text.slice(start, end)) <= MAX_WORDS;

const wordCount = (text: string): number => text.match(/\S+/g)?.length ?? 0;

const linesIn = (text: string, block: Span): readonly Span[] =>
  linesOf(text.slice(block.start, block.end))
    .filter((line) => line.text.trim() !== '')
    .map(({ start, end }) => ({ start: block.start + start, end: block.start + end }));

/** Sentence ends cut the block; what stands between sentences (markers) stays with the sentence behind it. */
const sentencesIn = (text: string, { start, end }: Span): readonly Span[] => {
  const ends = sentencesOf(text.slice(start, end)).map((sentence) => start + sentence.end);
  const cuts = [...ends.slice(0, -1), end];
  return cuts
    .map((cut, index) => trimmed(text, { start: index === 0 ? start : (cuts[index - 1] as number), end: cut }))
    .filter((span) => span.end > span.start);
};

/** The last resort: as many words, or characters, as fit. */
const words = (text: string, { start, end }: Span): readonly Span[] => {
  const spans: Span[] = [];
  let open: Span | undefined;
  for (const match of text.slice(start, end).matchAll(/\S{1,500}/g)) {
    const word = { start: start + match.index, end: start + match.index + match[0].length };
    const joined: Span = open === undefined ? word : { start: open.start, end: word.end };
    if (open !== undefined && !fits(text, joined)) {
      spans.push(open);
      open = word;
    } else open = joined;
  }
  return open === undefined ? spans : [...spans, open];
};

const trimmed = (text: string, { start, end }: Span): Span => {
  const piece = text.slice(start, end);
  return { start: start + piece.length - piece.trimStart().length, end: end - (piece.length - piece.trimEnd().length) };
};

/** A heading without its emphasis, code marks and link targets; what is longer than a heading is cut. */
const plainTitle = (title: string): string =>
  title
    .slice(0, MAX_TITLE)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`]+/g, '')
    .trim();

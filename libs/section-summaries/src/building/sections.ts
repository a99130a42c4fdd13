import { similarity } from './clusters';

/** Chunks that a section has at least, where its document has as many, and at most. */
const FEWEST_CHUNKS = 4;
const MOST_CHUNKS = 8;
/** A subject changes where two chunks are this much less alike than those beside them. */
const DIP = 0.1;

/** A chunk as sections are cut: what follows it in the document matters, not its text. */
export interface SectionChunk {
  /** Headings above it, outermost first. */
  readonly headings: readonly string[];
  readonly vector?: Float32Array | undefined;
}

/**
 * Cuts the chunks of one document, in the order of its text, into sections of 4 to 8: under a new heading, or where what follows
 * is less like what came before than at the places beside it. Where a cut is depends on the chunks around it alone, so a change
 * in the text moves few of them. Fewer than 4 chunks are one section.
 */
export const sectionsOf = <Chunk extends SectionChunk>(chunks: readonly Chunk[]): readonly (readonly Chunk[])[] => {
  const sections: Chunk[][] = [];
  let open: Chunk[] = [];
  for (const [index, chunk] of chunks.entries()) {
    if (open.length >= MOST_CHUNKS || (open.length >= FEWEST_CHUNKS && isBoundary(chunks, index))) {
      sections.push(open);
      open = [];
    }
    open.push(chunk);
  }
  if (open.length > 0) sections.push(open);
  return withoutStub(sections);
};

/** Whether something new begins with a chunk. */
const isBoundary = (chunks: readonly SectionChunk[], index: number): boolean => {
  const [before, chunk, after, earlier] = [chunks[index - 1], chunks[index], chunks[index + 1], chunks[index - 2]];
  if (before === undefined || chunk === undefined) return false;
  if (before.headings.join('\n') !== chunk.headings.join('\n')) return true;
  const here = similarity(before.vector, chunk.vector) + DIP;
  return (
    earlier !== undefined &&
    after !== undefined &&
    here < similarity(earlier.vector, before.vector) &&
    here < similarity(chunk.vector, after.vector)
  );
};

/** A rest that is too short for a section joins the last one; if that is too long then, they are cut in the middle. */
const withoutStub = <Chunk>(sections: readonly (readonly Chunk[])[]): readonly (readonly Chunk[])[] => {
  const [last, rest] = sections.slice(-2);
  if (last === undefined || rest === undefined || rest.length >= FEWEST_CHUNKS) return sections;
  const joined = [...last, ...rest];
  const half = Math.ceil(joined.length / 2);
  const cut = joined.length <= MOST_CHUNKS ? [joined] : [joined.slice(0, half), joined.slice(half)];
  return [...sections.slice(0, -2), ...cut];
};

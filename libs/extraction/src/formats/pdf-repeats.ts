import type { PdfLine } from './pdf-lines';

/** How many lines a head or a foot of a page may have. */
const SIZES = [1, 2, 3];
/** Pages that a line stands on before it is taken for one of every page; that of numbers, which count with the pages. */
const PAGES = 3;
const NUMBERED_PAGES = 2;
/** How far the printed number of a page may be from its place in the file. */
const MAX_OFFSET = 50;
/** The number of a page, and nothing else. */
const PAGE_NUMBER =
  /^[^\p{L}\p{N}]{0,5}(?:(?:seite|page|blatt|s\.|p\.)\s{0,3})?(\d{1,5})(?:\s{0,3}(?:von|of|\/)\s{0,3}\d{1,5})?[^\p{L}\p{N}]{0,5}$/iu;

/**
 * The lines of pages without those that several have alike at the top or the foot, such as the title of a book, and the numbers of
 * pages: they would stand in the middle of sentences. The first of each is told before its page, but no numbers. Lines larger than `body`,
 * which are headings, stay, and so do those close to others, such as the names of the columns of a table.
 */
export const withoutRepeats = (pages: readonly (readonly PdfLine[])[], body: number): readonly PdfLine[][] => {
  const spacing = spacingOf(pages.map(levelsOf), body);
  const edges = pages.map((lines) => edgesOf(levelsOf(lines), spacing).filter(({ height }) => height <= body));
  const counts = new Map<string, number>();
  for (const [index, lines] of edges.entries())
    for (const key of new Set(lines.map(({ text }) => keyOf(text, index + 1))))
      counts.set(key, (counts.get(key) ?? 0) + 1);
  const told = new Set<string>();
  return pages.map((lines, index) => {
    const repeated = new Set<PdfLine>();
    const first: PdfLine[] = [];
    for (const line of edges[index] ?? []) {
      const key = keyOf(line.text, index + 1);
      const isNumber = key.startsWith('\0');
      if ((counts.get(key) ?? 0) < (isNumber ? NUMBERED_PAGES : PAGES)) continue;
      repeated.add(line);
      if (!isNumber && !told.has(key)) first.push(line);
      told.add(key);
    }
    return [...first, ...lines.filter((line) => !repeated.has(line))];
  });
};

/** Lines that stand beside each other, from the top. */
const levelsOf = (lines: readonly PdfLine[]): readonly PdfLine[][] => {
  const levels: PdfLine[][] = [];
  for (const line of lines.toSorted((a, b) => b.y - a.y)) {
    const last = levels.at(-1);
    if (last?.[0] !== undefined && last[0].y - line.y < line.height / 2) last.push(line);
    else levels.push([line]);
  }
  return levels;
};

const gapBetween = (above: readonly PdfLine[] | undefined, below: readonly PdfLine[] | undefined): number =>
  (above?.[0]?.y ?? Infinity) - (below?.[0]?.y ?? -Infinity);

/** How far lines of the text stand apart at most, in points. */
const spacingOf = (pages: readonly (readonly PdfLine[][])[], body: number): number => {
  const gaps = pages
    .flatMap((levels) => levels.slice(1).map((level, index) => gapBetween(levels[index], level)))
    .toSorted((a, b) => a - b);
  return Math.max(body * 2, 1.5 * Math.min(gaps[Math.floor(gaps.length / 4)] ?? 0, body * 3));
};

/** The lines of the head and the foot of a page, which stand apart from the others. */
const edgesOf = (levels: readonly PdfLine[][], spacing: number): readonly PdfLine[] => {
  const ends = (at: number): boolean =>
    at > 0 && at < levels.length && gapBetween(levels[at - 1], levels[at]) > spacing;
  const head = SIZES.find(ends) ?? 0;
  const foot = SIZES.find((count) => ends(levels.length - count)) ?? 0;
  return [...levels.slice(0, head), ...levels.slice(Math.max(head, levels.length - foot))].flat();
};

/** What is the same of a line on each page: its text, or by how much the number of the page is another. */
const keyOf = (text: string, page: number): string => {
  const digits = PAGE_NUMBER.exec(text)?.[1];
  const offset = Number(digits) - page;
  return digits === undefined || Math.abs(offset) > MAX_OFFSET ? text : `\0${offset}`;
};

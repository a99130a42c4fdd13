import type { getDocumentProxy } from 'unpdf';
import type { PdfLine } from './pdf-lines';

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
type Item = NonNullable<Awaited<ReturnType<Pdf['getOutline']>>>[number];

const MAX_ENTRIES = 2_000;
const MAX_LEVEL = 6;
/** Lines that a heading may go over. */
const MAX_LINES = 3;

/** A heading of the outline that readers show beside the pages. */
interface Entry {
  readonly title: string;
  readonly level: number;
  /** Index of its page. */
  readonly page: number;
}

/** The headings of the outline. Empty where it has none, or a damaged one. */
export const outlineOf = async (pdf: Pdf): Promise<readonly Entry[]> => {
  const entries: Entry[] = [];
  const read = async (items: readonly Item[], level: number): Promise<void> => {
    for (const { title, dest, items: below } of items) {
      if (entries.length >= MAX_ENTRIES) return;
      const page = await pageOf(pdf, dest);
      if (page !== undefined) entries.push({ title, level, page });
      await read(below as readonly Item[], Math.min(level + 1, MAX_LEVEL));
    }
  };
  try {
    await read((await pdf.getOutline()) ?? [], 1);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  return entries;
};

const pageOf = async (pdf: Pdf, dest: Item['dest']): Promise<number | undefined> => {
  const place: unknown = typeof dest === 'string' ? await pdf.getDestination(dest) : dest;
  const target: unknown = Array.isArray(place) ? place[0] : undefined;
  if (typeof target === 'number') return target;
  return target === undefined || target === null
    ? undefined
    : pdf.getPageIndex(target as Parameters<Pdf['getPageIndex']>[0]);
};

/** Marks the lines of pages that are headings of the outline, whatever they look like. */
export const markHeadings = (pages: readonly (readonly PdfLine[])[], outline: readonly Entry[]): PdfLine[][] => {
  const marked = pages.map((lines) => [...lines]);
  for (const [heading, { title, level, page }] of outline.entries()) {
    const lines = marked[page] ?? [];
    const found = placeOf(lines, lettersOf(title));
    for (let at = found?.first ?? 0; at <= (found?.last ?? -1); at += 1)
      lines[at] = { ...(lines[at] as PdfLine), outlined: { level, heading } };
  }
  return marked;
};

const placeOf = (lines: readonly PdfLine[], title: string) => {
  if (title === '') return undefined;
  for (let first = 0; first < lines.length; first += 1) {
    let text = '';
    for (let last = first; last < Math.min(first + MAX_LINES, lines.length); last += 1) {
      const line = lines[last] as PdfLine;
      if (line.outlined !== undefined) break;
      text += lettersOf(line.text);
      if (text === title || withoutNumber(text) === title || text === withoutNumber(title)) return { first, last };
      if (text.length > title.length + 10) break;
    }
  }
  return undefined;
};

/** Letters and digits alone: outlines are spaced and hyphenated otherwise than pages. */
const lettersOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const withoutNumber = (letters: string): string => letters.replace(/^\d{1,8}(?=\p{L})/u, '');

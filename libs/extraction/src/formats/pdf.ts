import { getDocumentProxy } from 'unpdf';
import { type Extraction, ExtractionFailure, fail, type SourceFile } from '../extraction';
import { TextBuilder } from '../text-builder';
import { fieldTexts } from './pdf-fields';
import { linesOfPage, type PdfLine } from './pdf-lines';
import { markHeadings, outlineOf } from './pdf-outline';
import { withoutRepeats } from './pdf-repeats';

const MAX_PAGES = 20_000;
/** Lines that are larger than the text by this are headings, if they are short. */
const LARGER = 1.15;
const MAX_HEADING = 200;
const MAX_LEVELS = 4;

interface Page {
  readonly lines: readonly PdfLine[];
  /** What was filled into it, and written onto it. */
  readonly fields: readonly string[];
  readonly isDamaged: boolean;
}

/**
 * The text of a PDF by page: lines joined to paragraphs, words that are divided at the end of a line or a page joined, larger lines and
 * those of the outline as headings, then what was filled in. What stands at the top or the foot of several pages is told once.
 */
export const extractPdf = async ({ body }: SourceFile): Promise<Extraction> => {
  const pdf = await opened(body);
  try {
    if (pdf.numPages > MAX_PAGES) fail('too_many_passages');
    const pages: Page[] = [];
    for (let number = 1; number <= pdf.numPages; number += 1) pages.push(await pageOf(pdf, number));
    const isSilent = pages.every(({ lines, fields }) => lines.length + fields.length === 0);
    if (isSilent && pages.some(({ isDamaged }) => isDamaged)) fail('malformed');
    const body = bodySize(pages.flatMap(({ lines }) => lines));
    const told = withoutRepeats(
      pages.map(({ lines }) => lines),
      body * LARGER,
    );
    return written(joinedPages(markHeadings(told, await outlineOf(pdf))), pages);
  } finally {
    await pdf.loadingTask.destroy();
  }
};

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

const opened = async (body: Buffer): Promise<Pdf> => {
  try {
    return await getDocumentProxy(new Uint8Array(body), {
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      enableXfa: false,
    });
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') throw new ExtractionFailure('encrypted');
    throw new ExtractionFailure('malformed');
  }
};

/** A page that is damaged has no lines; the others may have. */
const pageOf = async (pdf: Pdf, number: number): Promise<Page> => {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const lines = linesOfPage(
      items.flatMap((item) => ('str' in item ? [item] : [])),
      page.rotate,
    );
    const fields = fieldTexts(await page.getAnnotations());
    page.cleanup();
    return { lines, fields, isDamaged: false };
  } catch (error) {
    if (error instanceof Error) return { lines: [], fields: [], isDamaged: true };
    throw error;
  }
};

/** A word that the end of a page divides stands on the first of the two. */
const joinedPages = (pages: readonly PdfLine[][]): readonly PdfLine[][] => {
  for (const [index, lines] of pages.entries()) {
    const last = lines.at(-1);
    const next = pages[index + 1];
    const first = next?.[0];
    if (last === undefined || next === undefined || first === undefined) continue;
    const [rest = ''] = first.text.split(' ', 1);
    if (sizeOf(last) !== sizeOf(first) || joined([last.text, rest]) !== last.text.slice(0, -1) + rest) continue;
    lines[lines.length - 1] = { ...last, text: last.text.slice(0, -1) + rest };
    const text = first.text.slice(rest.length).trimStart();
    if (text === '') next.shift();
    else next[0] = { ...first, text };
  }
  return pages;
};

const written = (pages: readonly (readonly PdfLine[])[], filled: readonly Page[]): Extraction => {
  const levels = headingLevels(pages.flat());
  const builder = new TextBuilder();
  for (const [index, lines] of pages.entries()) {
    builder.at({ page: index + 1 });
    let paragraph: PdfLine[] = [];
    const close = (): void => {
      const [first] = paragraph;
      const text = joined(paragraph.map((line) => line.text));
      const level = first?.outlined?.level ?? (first === undefined ? undefined : levels.get(sizeOf(first)));
      if (level !== undefined && text.length <= MAX_HEADING) builder.heading(level, text);
      else builder.prose(text);
      paragraph = [];
    };
    for (const line of lines) {
      const last = paragraph.at(-1);
      if (last !== undefined && beginsParagraph(last, line)) close();
      paragraph.push(line);
    }
    close();
    builder.lines((filled[index]?.fields ?? []).join('\n'));
  }
  return builder.build();
};

const sizeOf = ({ height }: PdfLine): number => Math.round(height * 2) / 2;

/** The size that most characters have. */
const bodySize = (lines: readonly PdfLine[]): number => {
  const characters = new Map<number, number>();
  for (const line of lines) characters.set(sizeOf(line), (characters.get(sizeOf(line)) ?? 0) + line.text.length);
  const [body = 0] = [...characters.entries()].toSorted((a, b) => b[1] - a[1]).map(([size]) => size);
  return body;
};

/** Sizes of headings and their levels, from the largest: those above the size that most characters have. */
const headingLevels = (lines: readonly PdfLine[]): ReadonlyMap<number, number> => {
  const body = bodySize(lines);
  const sizes = [...new Set(lines.map(sizeOf))];
  const larger = sizes.filter((size) => size >= body * LARGER).toSorted((a, b) => b - a);
  return new Map(larger.map((size, index) => [size, Math.min(index + 1, MAX_LEVELS)]));
};

/** A gap of more than a line, another size, a step back to the top, or a line that begins a list. */
const beginsParagraph = (last: PdfLine, line: PdfLine): boolean => {
  const height = Math.max(last.height, line.height, 1);
  const gap = last.y - line.y;
  return (
    gap > height * 1.75 ||
    gap < -height * 0.5 ||
    sizeOf(last) !== sizeOf(line) ||
    last.outlined?.heading !== line.outlined?.heading ||
    /^(?:[\u2022\u25aa\u25cf\u2013*-]|\d{1,3}[.)])\s/.test(line.text)
  );
};

/** Words that a line end divides are joined, unless the hyphen is theirs: in `Vor- und Nachteile`, and before capitals and digits. */
export const joined = (lines: readonly string[]): string => {
  const parts: string[] = [];
  for (const line of lines) {
    const last = parts.at(-1);
    const isDivided = last !== undefined && /\p{L}[-\u00ad\u2010]$/u.test(last.slice(-3));
    const isSoft = last?.endsWith('\u00ad') === true;
    if (last === undefined) parts.push(line);
    else if (isDivided && (isSoft || (/^\p{Ll}/u.test(line) && !CONJUNCTION.test(line)))) {
      parts[parts.length - 1] = last.slice(0, -1);
      parts.push(line);
    } else if (isDivided && /^[\p{Lu}\d]/u.test(line)) parts.push(line);
    else parts.push(' ', line);
  }
  return parts.join('');
};

const CONJUNCTION = /^(?:und|oder|bzw|sowie|and|or|to)\b/;

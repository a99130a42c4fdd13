import type { Block } from './extraction';

// Every expression here is linear in the line: texts may be hostile.
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const LIST_ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
const MAX_FRONT_MATTER = 500;

interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The blocks of a Markdown text: headings, prose (paragraphs, list items), and `lines` (code, tables), whose lines stay whole. Our
 * own parser: `mdast-util-from-markdown` takes 8 s and 800 MB for a megabyte, this one 0.1 s and 30 MB, and files may have a hundred.
 */
export const markdownBlocks = (text: string): readonly Block[] => {
  const lines = linesOf(text);
  const matter = frontMatterEnd(lines);
  const found: Block[] = matter === 0 ? [] : [{ kind: 'lines', start: 0, end: (lines[matter - 1] as Line).end }];
  let index = matter;
  while (index < lines.length) {
    const line = lines[index] as Line;
    const end = blockEnd(lines, index);
    if (line.text.trim() !== '') found.push(blockOf(lines, index, end));
    index = end;
  }
  return found;
};

/** The paragraphs of a plain text. */
export const plainBlocks = (text: string): readonly Block[] => {
  const found: Block[] = [];
  for (const match of text.matchAll(/\S[^]*?(?=\n[ \t]*\n|$(?![^]))/g))
    found.push({ kind: 'prose', start: match.index, end: match.index + match[0].trimEnd().length });
  return found;
};

/** The lines of a text, without their ends. */
export const linesOf = (text: string): readonly Line[] => {
  let start = 0;
  return text.split('\n').map((line) => {
    const placed = { text: line, start, end: start + line.length };
    start = placed.end + 1;
    return placed;
  });
};

/** Index of the line behind what a file says of itself, between two lines of `---`; the second is no mark of a heading. */
const frontMatterEnd = (lines: readonly Line[]): number => {
  if (lines[0]?.text.trimEnd() !== '---' || !/^["'\w][^:]{0,100}:/.test(lines[1]?.text ?? '')) return 0;
  const end = lines
    .slice(0, MAX_FRONT_MATTER)
    .findIndex(({ text }, index) => index > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(text));
  return end + 1;
};

/** Index of the line behind the block that begins at `first`. */
const blockEnd = (lines: readonly Line[], first: number): number => {
  const line = (lines[first] as Line).text;
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) {
    const closing = runEnd(lines, first, (text) => isClosing(text, fence));
    return Math.min(closing + 1, lines.length);
  }
  if (line.trim() === '' || HEADING.test(line)) return first + 1;
  if (isTableRow(line)) return runEnd(lines, first, (text) => !isTableRow(text));
  if (isUnderlined(lines, first)) return first + 2;
  return runEnd(lines, first, (text, index) => beginsBlock(text) || isUnderlined(lines, index));
};

const runEnd = (lines: readonly Line[], first: number, stops: (text: string, index: number) => boolean): number => {
  let index = first + 1;
  while (index < lines.length && !stops((lines[index] as Line).text, index)) index += 1;
  return index;
};

const isClosing = (line: string, fence: string): boolean => {
  const closing = FENCE.exec(line)?.[1];
  return closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length && line.trim() === closing;
};

const isTableRow = (line: string): boolean => line.trimStart().startsWith('|');

const beginsBlock = (line: string): boolean =>
  line.trim() === '' || HEADING.test(line) || FENCE.test(line) || LIST_ITEM.test(line) || isTableRow(line);

/** A paragraph of one line over `===` or `---` is a heading. */
const isUnderlined = (lines: readonly Line[], index: number): boolean => {
  const line = lines[index]?.text ?? '';
  return line.trim() !== '' && !beginsBlock(line) && UNDERLINE.test(lines[index + 1]?.text ?? '');
};

const blockOf = (lines: readonly Line[], first: number, behind: number): Block => {
  const line = lines[first] as Line;
  const { start } = line;
  const { end } = lines[behind - 1] as Line;
  const heading = HEADING.exec(line.text);
  if (heading !== null)
    return {
      kind: 'heading',
      start,
      end,
      level: (heading[1] as string).length,
      title: withoutClosing(heading[2] ?? ''),
    };
  if (FENCE.test(line.text) || isTableRow(line.text)) return { kind: 'lines', start, end };
  if (isUnderlined(lines, first))
    return {
      kind: 'heading',
      start,
      end,
      level: (lines[first + 1] as Line).text.trim().startsWith('=') ? 1 : 2,
      title: line.text.trim(),
    };
  return { kind: 'prose', start, end };
};

/** `# Title ##` closes with marks that are not part of the title. */
const withoutClosing = (title: string): string => {
  const trimmed = title.trim();
  let end = trimmed.length;
  while (trimmed[end - 1] === '#') end -= 1;
  return end === 0 || trimmed[end - 1] === ' ' ? trimmed.slice(0, end).trimEnd() : trimmed;
};

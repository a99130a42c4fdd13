/** A run of text as PDF.js gives it. `transform`: where it stands; its last two are x and y, y from the bottom. */
export interface PdfItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

/** A line of a page; in points, y from the bottom. */
export interface PdfLine {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Where it is, or is part of, a heading of the outline. */
  readonly outlined?: { readonly level: number; readonly heading: number };
}

/** The lines of a page, turned by `rotation` degrees, in reading order: those that stand upright, then those that are turned. */
export const linesOfPage = (items: readonly PdfItem[], rotation: number): PdfLine[] => {
  const byTurn = new Map<number, PdfItem[]>();
  for (const item of items) {
    const turn = turnOf(item);
    const known = byTurn.get(turn);
    if (known === undefined) byTurn.set(turn, [item]);
    else known.push(item);
  }
  const upright = (((rotation / 90) % 4) + 4) % 4;
  return [...byTurn]
    .toSorted(([a], [b]) => Number(b === upright) - Number(a === upright) || a - b)
    .flatMap(([turn, those]) => linesOf(those.map((item) => turned(item, turn))));
};

/** By how many quarters a run is turned against the clock. One that only has a line end in it stands upright. */
const turnOf = ({ transform: [a = 1, b = 0] }: PdfItem): number =>
  (Math.round(Math.atan2(b, a) / (Math.PI / 2)) + 4) % 4;

/** A run as it would stand if it were upright. */
const turned = (item: PdfItem, turn: number): PdfItem => {
  const [x, y] = [xOf(item), yOf(item)];
  const [toX, toY] = (
    [
      [x, y],
      [y, -x],
      [-x, -y],
      [-y, x],
    ] as const
  )[turn] ?? [x, y];
  return { ...item, transform: [...item.transform.slice(0, 4), toX, toY] };
};

/** Lines in reading order. Columns stay as the page draws them, since it says nothing of columns. */
const linesOf = (items: readonly PdfItem[]): PdfLine[] => {
  const lines: PdfLine[] = [];
  let open: PdfItem[] = [];
  const close = (): void => {
    const line = lineOf(open);
    if (line !== undefined) lines.push(line);
    open = [];
  };
  for (const item of items) {
    const last = open.findLast(({ str }) => str.trim() !== '');
    if (last !== undefined && item.str.trim() !== '' && !isSameLine(last, item)) close();
    open.push(item);
    if (item.hasEOL) close();
  }
  close();
  const whole = joinedLines(lines);
  return hasColumns(whole) ? whole : whole.toSorted((a, b) => b.y - a.y || a.x - b.x);
};

const xOf = ({ transform }: PdfItem): number => transform[4] ?? 0;
const yOf = ({ transform }: PdfItem): number => transform[5] ?? 0;
const heightOf = ({ height, transform }: PdfItem): number => height || Math.hypot(transform[2] ?? 0, transform[3] ?? 0);

const isSameLine = (a: PdfItem, b: PdfItem): boolean =>
  Math.abs(yOf(a) - yOf(b)) <= Math.max(heightOf(a), heightOf(b), 1) * 0.5;

const lineOf = (items: readonly PdfItem[]): PdfLine | undefined => {
  const seen = items.filter(({ str }) => str.trim() !== '');
  const [first] = seen;
  if (first === undefined) return undefined;
  let text = '';
  let end = xOf(first);
  for (const item of items) {
    const gap = xOf(item) - end;
    const isApart = gap > heightOf(item) * 0.25 && item.str.trim() !== '';
    if (isApart && text !== '' && !/\s$/.test(text) && !/^\s/.test(item.str)) text += ' ';
    text += item.str;
    end = xOf(item) + item.width;
  }
  const longest = seen.reduce((longest_, item) => (item.str.length > longest_.str.length ? item : longest_), first);
  return { text: text.trim(), x: xOf(first), y: yOf(longest), width: end - xOf(first), height: heightOf(longest) };
};

/** Pieces of a line that follow each other closely are one, such as a word in bold. */
const joinedLines = (lines: readonly PdfLine[]): PdfLine[] => {
  const joined: PdfLine[] = [];
  for (const line of lines) {
    const last = joined.at(-1);
    const gap = last === undefined ? Infinity : line.x - (last.x + last.width);
    if (last !== undefined && isBeside(last, line) && gap > -1 && gap < line.height * 2)
      joined[joined.length - 1] = { ...last, text: `${last.text} ${line.text}`, width: line.x + line.width - last.x };
    else joined.push(line);
  }
  return joined;
};

const isBeside = (a: PdfLine, b: PdfLine): boolean => Math.abs(a.y - b.y) <= Math.max(a.height, b.height, 1) * 0.5;

/** Whether lines stand beside each other, as in columns and tables. */
const hasColumns = (lines: readonly PdfLine[]): boolean => {
  const byHeight = lines.toSorted((a, b) => b.y - a.y);
  return byHeight.some((line, index) => {
    const next = byHeight[index + 1];
    return next !== undefined && isBeside(line, next);
  });
};

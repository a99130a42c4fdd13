import { isWord, nameSequence } from './table-names';

/** Rows among which the first header is looked for, and rows that it may have. */
const HEAD = 20;
const MAX_HEADER_ROWS = 4;
const MAX_HEADERS = 100;

export interface Row {
  /** Its number in the file, from 1. */
  readonly number: number;
  readonly cells: readonly string[];
}

/** Cells that are shown as one; rows and columns from the first to the last, rows counted from 1, columns from 0. */
export interface Merged {
  readonly rows: readonly [first: number, last: number];
  readonly columns: readonly [first: number, last: number];
}

/** What names the columns of the rows below it. */
export interface Header {
  readonly rows: readonly Row[];
  /** Numbers of the rows that it names. */
  readonly below: readonly [first: number, last: number];
  readonly columns: readonly [first: number, last: number];
  /** Of those columns, in their order. */
  readonly names: readonly string[];
}

/** The headers of a table, and of those that stand below it behind an empty row or a title. `wide`: cells over several columns. */
export const headersOf = (rows: readonly Row[], wide: readonly Merged[]): readonly Header[] => {
  const spans = new Map<number, Merged[]>();
  for (const merged of wide)
    for (let row = merged.rows[0]; row <= Math.min(merged.rows[1], merged.rows[0] + MAX_HEADER_ROWS); row += 1) {
      const known = spans.get(row);
      if (known === undefined) spans.set(row, [merged]);
      else known.push(merged);
    }
  const starts = [firstHeader(rows)];
  for (let at = Math.max(starts[0] ?? -1, 0) + 1; at < rows.length - 1 && starts.length < MAX_HEADERS; at += 1)
    if (beginsTable(rows, at)) starts.push(at);
  const headers = starts
    .flatMap((at) => (at === undefined ? [] : [wholeHeader(rows, at, spans)]))
    .filter(isAbove(rows));
  return headers.map(({ last, named }, index): Header => {
    const next = headers[index + 1];
    const until = next === undefined ? Infinity : (rows[next.first] as Row).number - 1;
    const spread = named.map((row) => spreadCells(row, spans.get(row.number) ?? []));
    const columns = Math.max(...spread.map((cells) => cells.length));
    const names = Array.from({ length: columns }, (_, column) =>
      [...new Set(spread.map((cells) => cells[column] ?? ''))].join(' ').trim(),
    );
    return { rows: named, below: [(rows[last] as Row).number + 1, until], columns: [0, columns - 1], names };
  });
};

interface Found {
  readonly first: number;
  readonly last: number;
  readonly named: readonly Row[];
}

/** A header without a row below it names nothing. */
const isAbove =
  (rows: readonly Row[]) =>
  ({ last }: Found): boolean =>
    last < rows.length - 1;

/** Index of the first row that names its columns: of words, about as wide as the table. */
const firstHeader = (rows: readonly Row[]): number | undefined => {
  const head = rows.slice(0, HEAD);
  const width = head.reduce((widest, { cells }) => Math.max(widest, filled(cells)), 0);
  const at = head.findIndex(
    ({ cells }) => filled(cells) >= Math.max(2, width * 0.6) || (width === 1 && filled(cells) === 1),
  );
  return nameSequence(head[at]?.cells ?? ['0']) ? at : undefined;
};

/** Whether another table begins: behind an empty row, or a title, are words alone, and numbers below them. */
const beginsTable = (rows: readonly Row[], at: number): boolean => {
  const [before, row, below] = [rows[at - 1], rows[at], rows[at + 1]] as [Row, Row, Row];
  const isApart = row.number > before.number + 1 || filled(before.cells) === 1;
  return (
    isApart &&
    below.number === row.number + 1 &&
    filled(row.cells) >= 2 &&
    nameSequence(row.cells) &&
    row.cells.some((cell, column) => isWord(cell) && /^\W{0,3}\d/.test(below.cells[column] ?? '')) &&
    below.cells.every((cell, column) => cell === '' || (row.cells[column] ?? '') !== '')
  );
};

/** With the rows that group its columns, and those that it groups. */
const wholeHeader = (rows: readonly Row[], at: number, spans: ReadonlyMap<number, readonly Merged[]>): Found => {
  let [first, last] = [at, at];
  const groups = (above: number): boolean =>
    last - first < MAX_HEADER_ROWS - 1 && groupsBelow(rows[above], rows[above + 1], spans);
  while (groups(first - 1)) first -= 1;
  while (groups(last)) last += 1;
  return { first, last, named: rows.slice(first, last + 1) };
};

/** Whether a row has cells over several columns that the next row names each: `2025` over `Q1` and `Q2`. A title over the whole table is none. */
const groupsBelow = (
  above: Row | undefined,
  below: Row | undefined,
  spans: ReadonlyMap<number, readonly Merged[]>,
): boolean => {
  if (above === undefined || below?.number !== above.number + 1) return false;
  const groups = (spans.get(above.number) ?? []).filter(({ rows: [first, last] }) => first === last);
  return (
    groups.length > 0 &&
    filled(above.cells) > 1 &&
    below.cells.every((cell) => cell === '' || isWord(cell)) &&
    groups.every(({ columns: [first, last] }) => below.cells.slice(first, last + 1).every(isWord))
  );
};

/** The cells of a row, those over several columns in each of them. */
const spreadCells = ({ cells }: Row, spans: readonly Merged[]): readonly string[] => {
  const spread = [...cells];
  for (const { columns } of spans)
    for (let column = columns[0] + 1; column <= columns[1]; column += 1)
      if ((spread[column] ?? '') === '') spread[column] = cells[columns[0]] ?? '';
  return Array.from(spread, (cell) => cell ?? '');
};

const filled = (cells: readonly string[]): number =>
  cells.reduce((count, cell) => (cell === '' ? count : count + 1), 0);

import type { Place } from '@app/kernel';
import { fail } from './extraction';
import { oneLine, type TextBuilder } from './text-builder';

/** Rows of a table that each stand for themselves. In longer tables as many are joined as make a passage. */
const MAX_SINGLE_ROWS = 5_000;
const MAX_ROWS = 1_500_000;
const JOINED_CHARACTERS = 700;
const JOINED_ROWS = 20;
/** Rows among which the header is looked for. */
const HEAD = 20;

interface Row {
  /** Its number in the file, from 1. */
  readonly number: number;
  readonly cells: readonly string[];
}

/** A table as it is read, row by row. Each row names its columns, so that it can be understood by itself. */
export class Table {
  private readonly rows: Row[] = [];
  private characters = 0;

  /** `cells`: of all columns, empty ones as empty texts. */
  add(number: number, cells: readonly string[]): void {
    const shown = cells.map(oneLine);
    while (shown.at(-1) === '') shown.pop();
    if (shown.length === 0) return;
    for (const cell of shown) this.characters += cell.length + 1;
    if (this.rows.length >= MAX_ROWS || this.characters > 64 * 1024 ** 2) fail('too_many_passages');
    this.rows.push({ number, cells: shown });
  }

  get isEmpty(): boolean {
    return this.rows.length === 0;
  }

  /** Writes the rows, each at its place: `place` with its number. */
  write(to: TextBuilder, place: Place): void {
    const header = headerOf(this.rows);
    const isTold = header !== undefined && isToldBelow(header, this.rows);
    const joins = this.rows.length > MAX_SINGLE_ROWS;
    let open: { readonly row: number; lines: string[]; length: number } | undefined;
    const close = (): void => {
      if (open === undefined) return;
      to.at({ ...place, row: open.row });
      to.lines(open.lines.join('\n'));
      open = undefined;
    };
    for (const row of this.rows) {
      if (row === header && isTold) continue;
      const line = lineOf(row, header);
      if (
        open !== undefined &&
        (!joins || open.lines.length >= JOINED_ROWS || open.length + line.length > JOINED_CHARACTERS)
      )
        close();
      open ??= { row: row.number, lines: [], length: 0 };
      open.lines.push(line);
      open.length += line.length;
    }
    close();
    to.at(place);
  }
}

/** The first row that names its columns: of words, about as wide as the table, above another row. */
const headerOf = (rows: readonly Row[]): Row | undefined => {
  const head = rows.slice(0, HEAD);
  const width = head.reduce((widest, { cells }) => Math.max(widest, filled(cells)), 0);
  const header = head.find(
    ({ cells }) => filled(cells) >= Math.max(2, width * 0.6) || (width === 1 && filled(cells) === 1),
  );
  if (header === undefined || header === rows.at(-1)) return undefined;
  return header.cells.every((cell) => cell === '' || /\p{L}/u.test(cell)) ? header : undefined;
};

/** Whether each name stands in a row below: a column without values would be lost with its name. */
const isToldBelow = ({ number, cells }: Row, rows: readonly Row[]): boolean => {
  const told = new Set<number>();
  for (const row of rows)
    if (row.number > number) for (const [column, cell] of row.cells.entries()) if (cell !== '') told.add(column);
  return cells.every((cell, column) => cell === '' || told.has(column));
};

const filled = (cells: readonly string[]): number =>
  cells.reduce((count, cell) => (cell === '' ? count : count + 1), 0);

const lineOf = ({ number, cells }: Row, header: Row | undefined): string =>
  // Rows above the header are titles and notes.
  rowSentence(cells, header !== undefined && number > header.number ? header.cells : []);

/** A row as a sentence that names its columns, so that it can be found, understood and quoted by itself. */
export const rowSentence = (cells: readonly string[], header: readonly string[]): string => {
  const said = cells.flatMap((cell, index) => {
    const name = header[index] ?? '';
    return cell === '' ? [] : [name === '' ? cell : `${name}: ${cell}`];
  });
  const row = said.join('; ');
  return row === '' || /[.!?:;\u2026]$/.test(row) ? row : `${row}.`;
};

import type { Place } from '@app/kernel';
import { fail } from './extraction';
import { type Header, headersOf, type Merged, type Row } from './table-headers';
import { rowSentence } from './table-names';
import { oneLine, type TextBuilder } from './text-builder';

/** Rows of a table that each stand for themselves. In longer tables as many are joined as make a passage. */
const MAX_SINGLE_ROWS = 5_000;
const MAX_ROWS = 1_500_000;
const MAX_CHARACTERS = 64 * 1024 ** 2;
/** Merged cells do not overlap in honest files. */
const MAX_MERGED_ROWS = 10_000_000;
const MAX_NAMED = 100;
const JOINED_CHARACTERS = 700;
const JOINED_ROWS = 20;

/** A part of a table that says itself how its columns are called, in its first row. */
export interface NamedRange extends Merged {
  readonly names: readonly string[];
}

interface TableRow extends Row {
  cells: readonly string[];
  /** By a filter, or by hand. */
  readonly isHidden: boolean;
}

/** A table as it is read, row by row. Each row names its columns, so that it can be understood by itself. */
export class Table {
  private rows: TableRow[] = [];
  private readonly wide: Merged[] = [];
  private readonly named: NamedRange[] = [];
  private characters = 0;
  private mergedRows = 0;

  /** `cells`: of all columns, empty ones as empty texts. */
  add(number: number, cells: readonly string[], isHidden = false): void {
    const shown = cells.map(oneLine);
    while (shown.at(-1) === '') shown.pop();
    if (shown.length === 0) return;
    for (const cell of shown) this.count(cell);
    if (this.rows.length >= MAX_ROWS) fail('too_many_passages');
    this.rows.push({ number, cells: shown, isHidden });
  }

  /** Says in each of the rows what cells over several rows say, once all rows are there. What stands in a row stays. */
  merge(merged: Merged): void {
    const { rows, columns } = merged;
    const [column, lastColumn] = columns;
    const first = this.indexOf(rows[0]);
    const text = this.rows[first]?.number === rows[0] ? (this.rows[first].cells[column] ?? '') : '';
    if (text === '') return;
    if (lastColumn > column) this.wide.push(merged);
    for (let index = first + 1; (this.rows[index]?.number ?? Infinity) <= rows[1]; index += 1) {
      const row = this.rows[index] as TableRow;
      this.mergedRows += 1;
      if (this.mergedRows > MAX_MERGED_ROWS) fail('too_many_passages');
      if ((row.cells[column] ?? '') !== '') continue;
      this.count(text);
      row.cells = Array.from({ length: Math.max(row.cells.length, column + 1) }, (_, at) =>
        at === column ? text : (row.cells[at] ?? ''),
      );
    }
  }

  /** Names the columns of a part of it. */
  name(range: NamedRange): void {
    if (this.named.length < MAX_NAMED) this.named.push(range);
  }

  /** Leaves out the rows that are hidden. */
  dropHidden(): void {
    this.rows = this.rows.filter(({ isHidden }) => !isHidden);
  }

  get isEmpty(): boolean {
    return this.rows.length === 0;
  }

  /** Writes the rows, each at its place: `place` with its number. */
  write(to: TextBuilder, place: Place): void {
    const headers = [...headersOf(this.rows, this.wide), ...this.named.map((range) => this.headerOf(range))];
    const told = new Set(headers.filter((header) => this.isToldBelow(header)).flatMap(({ rows }) => rows));
    const joins = this.rows.length > MAX_SINGLE_ROWS;
    let open: { readonly row: number; lines: string[]; length: number } | undefined;
    const close = (): void => {
      if (open === undefined) return;
      to.at({ ...place, row: open.row });
      to.lines(open.lines.join('\n'));
      open = undefined;
    };
    for (const row of this.rows) {
      if (told.has(row)) continue;
      const line = rowSentence(row.cells, namesFor(row, headers));
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

  private headerOf({ rows: [first, last], columns, names }: NamedRange): Header {
    const [head] = this.rows.slice(this.indexOf(first));
    return { rows: head?.number === first ? [head] : [], below: [first + 1, last], columns, names };
  }

  /** Whether each name stands in a row below: a column without values would be lost with its name. */
  private isToldBelow({ below: [first, last], columns, names }: Header): boolean {
    const told = new Set<number>();
    for (const { cells } of this.rows.slice(this.indexOf(first), this.indexOf(last + 1)))
      for (const [column, cell] of cells.entries()) if (cell !== '') told.add(column);
    return names.every((name, at) => name === '' || told.has(columns[0] + at));
  }

  private count(cell: string): void {
    this.characters += cell.length + 1;
    if (this.characters > MAX_CHARACTERS) fail('too_many_passages');
  }

  /** Index of the first row of that number or a later one. */
  private indexOf(number: number): number {
    let from = 0;
    let to = this.rows.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.rows[middle] as TableRow).number < number) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** Rows above the header are titles and notes. */
const namesFor = ({ number, cells }: Row, headers: readonly Header[]): readonly string[] => {
  const above = headers.filter(({ below: [first, last] }) => first <= number && number <= last);
  return cells.map((_, column) => {
    const header = above.findLast(({ columns: [first, last] }) => first <= column && column <= last);
    return header?.names[column - header.columns[0]] ?? '';
  });
};

import { Grid, type SpanningCell } from '../grid';
import type { Block } from '../extraction';
import { oneLine, type TextBuilder } from '../text-builder';

/** What a page writes: a block of it, before it is known whether it stands in a table or in a layout. */
export interface Written {
  readonly kind: Block['kind'];
  readonly text: string;
  /** Of a heading. */
  readonly level: number;
  readonly isListItem: boolean;
}

type Names = Readonly<Record<string, string>>;

/** HTML takes no more for a cell. */
const MAX_ROWS = 65_534;
const MAX_COLUMNS = 1_000;

/** A table of a page. One that only lays out the page, as in newsletters, is no table: what stands in it is written as it would be without. */
export class HtmlTable {
  private readonly grid = new Grid();
  private readonly kept: Written[] = [];
  private row: { cell: SpanningCell; isHeader: boolean }[] | undefined;
  private cell: { readonly written: Written[]; readonly columns: number; readonly rows: number } | undefined;
  private isHead = false;
  private isLayout: boolean;

  constructor({ role = '' }: Names) {
    this.isLayout = role === 'presentation' || role === 'none';
  }

  /** Whether what is written now stands in one of its cells. */
  get isInCell(): boolean {
    return this.cell !== undefined;
  }

  open(name: string, { colspan, rowspan }: Names): void {
    if (name === 'thead') this.isHead = true;
    else if (name === 'tbody' || name === 'tfoot') this.isHead = false;
    else if (name === 'tr') this.row = [];
    else if (name === 'td' || name === 'th') {
      this.row ??= [];
      this.cell = { written: [], columns: spanOf(colspan, MAX_COLUMNS), rows: spanOf(rowspan, MAX_ROWS) };
    }
  }

  write(written: Written): void {
    this.cell?.written.push(written);
    if (written.kind === 'heading') this.isLayout = true;
  }

  close(name: string): void {
    if (name === 'thead') this.isHead = false;
    else if (name === 'tr') this.endRow();
    else if ((name === 'td' || name === 'th') && this.cell !== undefined) {
      const { written, columns, rows } = this.cell;
      this.kept.push(...written);
      const text = oneLine(written.map((each) => each.text).join(' '));
      this.row?.push({ cell: { text, columns, rows }, isHeader: name === 'th' });
      this.cell = undefined;
    }
  }

  /** All of it, at its end. */
  written(): readonly Written[] {
    this.endRow();
    if (this.isLayout || this.grid.width <= 1) return this.kept;
    return this.grid.lines().map((text) => ({ kind: 'lines', text, level: 0, isListItem: false }));
  }

  private endRow(): void {
    const { row } = this;
    this.row = undefined;
    if (row === undefined) return;
    const isHeader = row.length > 1 && (this.isHead || row.every((each) => each.isHeader));
    this.grid.add(
      row.map(({ cell }) => cell),
      isHeader,
    );
  }
}

/** Writes a block; an empty one is none. */
export const writeBlock = (to: TextBuilder, { kind, text, level, isListItem }: Written): void => {
  if (kind === 'heading') to.heading(level, text);
  else if (kind === 'lines') to.lines(text);
  else to.prose(isListItem && text.trim() !== '' ? `- ${text}` : text);
};

/** 0 rows are all that follow in their part of the table. */
const spanOf = (span: string | undefined, most: number): number => {
  if (span === undefined || !/^\s*\d{1,9}/.test(span)) return 1;
  const value = Number.parseInt(span, 10);
  return value === 0 ? (most === MAX_ROWS ? most : 1) : Math.min(value, most);
};

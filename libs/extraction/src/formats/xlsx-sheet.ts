import type { Archive } from '../archive';
import { fail } from '../extraction';
import type { NamedRange, Table } from '../table';
import type { Merged } from '../table-headers';
import { oneLine } from '../text-builder';
import { type Attributes, readXml, type XmlReader } from '../xml';

/** Excel's own. */
const MAX_COLUMNS = 16_384;
const MAX_MERGED = 100_000;

/** The rows of a sheet, with what is said of them before and behind. Columns that were hidden by hand are left out. */
export class SheetReader implements XmlReader {
  readonly merged: Merged[] = [];
  /** Whether rows are hidden that are not folded together in an outline, which anyone may unfold. */
  hasHiddenRows = false;
  isFiltered = false;
  private readonly hiddenColumns: (readonly [first: number, last: number])[] = [];
  private rowNumber = 0;
  private isHiddenRow = false;
  private cells: string[] = [];
  private column = -1;
  private type = 'n';
  private style = -1;
  private value = '';
  private isValue = false;
  private readings = 0;

  constructor(
    private readonly table: Table,
    private readonly shown: (type: string, style: number, value: string) => string,
  ) {}

  open(name: string, attributes: Attributes): void {
    const { r, t = 'n', s } = attributes;
    if (name === 'row') this.openRow(attributes);
    else if (name === 'c') {
      this.column = r === undefined ? this.column + 1 : columnOf(r);
      if (this.column >= MAX_COLUMNS) fail('malformed');
      this.type = t;
      this.style = s === undefined ? -1 : Number(s);
      this.value = '';
    } else if (name === 'rPh') this.readings += 1;
    else if (name === 'v' || name === 't') this.isValue = this.readings === 0;
    else this.openOther(name, attributes);
  }

  text(text: string): void {
    if (this.isValue) this.value += text;
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.isValue = false;
    else if (name === 'rPh') this.readings -= 1;
    else if (name === 'c' && this.value !== '' && !this.isHiddenColumn()) {
      while (this.cells.length < this.column) this.cells.push('');
      this.cells[this.column] = this.shown(this.type, this.style, this.value);
    } else if (name === 'row') this.table.add(this.rowNumber, this.cells, this.isHiddenRow);
  }

  private openRow({ r, hidden, outlineLevel }: Attributes): void {
    this.rowNumber = r === undefined ? this.rowNumber + 1 : Number(r);
    if (!Number.isSafeInteger(this.rowNumber) || this.rowNumber < 1) fail('malformed');
    this.cells = [];
    this.column = -1;
    this.isHiddenRow = isOn(hidden) && !isOutlined(outlineLevel);
    this.hasHiddenRows ||= this.isHiddenRow;
  }

  private openOther(name: string, { ref, min, max, hidden, outlineLevel }: Attributes): void {
    if (name === 'filterColumn') this.isFiltered = true;
    else if (name === 'col' && isOn(hidden) && !isOutlined(outlineLevel))
      this.hiddenColumns.push([Number(min) - 1, Number(max) - 1]);
    else if (name === 'mergeCell' && ref !== undefined) {
      const merged = mergedOf(ref);
      if (this.merged.length >= MAX_MERGED) fail('too_many_passages');
      if (merged !== undefined) this.merged.push(merged);
    }
  }

  private isHiddenColumn(): boolean {
    return this.hiddenColumns.some(([first, last]) => first <= this.column && this.column <= last);
  }
}

/** A table on a sheet: the names of its columns, where it has a row for them, and whether it shows some of its rows alone. */
export const sheetTableOf = async (
  archive: Archive,
  part: string,
): Promise<{ readonly range: NamedRange | undefined; readonly isFiltered: boolean }> => {
  const names: string[] = [];
  let isFiltered = false;
  let place: Merged | undefined;
  await readXml(archive, part, {
    open: (name, { ref = '', headerRowCount, name: column = '' }) => {
      if (name === 'table' && headerRowCount !== '0') place = mergedOf(ref);
      else if (name === 'tableColumn' && names.length < MAX_COLUMNS)
        names.push(oneLine(column.replace(/_x000[ad]_/gi, ' ')));
      isFiltered ||= name === 'filterColumn';
    },
  });
  return { range: place && { ...place, names }, isFiltered };
};

const isOn = (value: string | undefined): boolean => value === '1' || value === 'true';
const isOutlined = (level = '0'): boolean => level !== '0';

/** `BC12` is in column 54, counted from 0. */
const columnOf = (reference: string): number => {
  let column = 0;
  for (const letter of /^[A-Z]{0,4}/.exec(reference)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
  return column === 0 ? fail('malformed') : column - 1;
};

const mergedOf = (ref: string): Merged | undefined => {
  const match = /^([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})$/.exec(ref);
  if (match === null) return undefined;
  const [, left = '', top, right = '', bottom] = match;
  return { rows: [Number(top), Number(bottom)], columns: [columnOf(left), columnOf(right)] };
};

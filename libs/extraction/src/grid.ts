import { fail } from './extraction';
import { nameSequence, rowSentence } from './table-names';
import { oneLine } from './text-builder';

/** HTML allows as many for one cell. */
const MAX_COLUMNS = 1_000;
const MAX_CHARACTERS = 64 * 1024 ** 2;

/** A cell as a document has it: how many columns and rows it covers, 1 and more. */
export interface SpanningCell {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

interface GridRow {
  /** The text of each column; of a cell over several columns in the first of them alone. */
  readonly cells: readonly string[];
  /** The same, with the text in each of its columns. */
  readonly names: readonly string[];
  readonly isHeader: boolean;
  /** Whether a cell of it covers several columns or rows. */
  readonly isGrouping: boolean;
}

const EMPTY: SpanningCell = { text: '', columns: 1, rows: 1 };

/** A table of a document, row by row. What a cell over several rows says is said in each of them, so that each can be understood by itself. */
export class Grid {
  private readonly rows: GridRow[] = [];
  /** Cells that reach into the next row, by the column in which they begin. */
  private hanging: ReadonlyMap<number, SpanningCell> = new Map();
  private characters = 0;

  add(cells: readonly SpanningCell[], isHeader: boolean): void {
    const laid: string[] = [];
    const names: string[] = [];
    const hanging = new Map<number, SpanningCell>();
    const own = cells.values();
    const last = Math.max(-1, ...this.hanging.keys());
    while (laid.length < MAX_COLUMNS) {
      const column = laid.length;
      const cell = this.hanging.get(column) ?? own.next().value ?? (column <= last ? EMPTY : undefined);
      if (cell === undefined) break;
      const { text, columns, rows } = cell;
      if (rows > 1) hanging.set(column, { text, columns, rows: rows - 1 });
      for (let covered = 0; covered < Math.min(Math.max(columns, 1), MAX_COLUMNS); covered += 1) {
        laid.push(covered === 0 ? text : '');
        names.push(text);
      }
      this.characters += text.length + columns;
    }
    if (this.characters > MAX_CHARACTERS) fail('too_many_passages');
    this.hanging = hanging;
    const isGrouping = cells.some(({ columns, rows }) => columns > 1 || rows > 1);
    if (cells.some(({ text }) => text !== '')) this.rows.push({ cells: laid, names, isHeader, isGrouping });
  }

  /** Whether its first row names the columns of the others, by its looks: three columns or more, all of words. */
  get hasNamingRow(): boolean {
    const [first, ...others] = this.rows;
    return (
      first !== undefined &&
      !first.isHeader &&
      first.cells.length >= 3 &&
      first.cells.every((cell) => cell !== '') &&
      nameSequence(first.cells) &&
      others.length > 0
    );
  }

  /** Columns that have text in a row, at most. */
  get width(): number {
    return this.rows.reduce((most, { cells }) => Math.max(most, cells.filter((cell) => cell !== '').length), 0);
  }

  /** Its rows as sentences, under the names of the header above them. `isNamed`: its first row is a header whatever it says of itself. */
  lines(isNamed = false): readonly string[] {
    return this.sections(isNamed)
      .flatMap(({ header, rows }) => {
        const said = rows.map(({ cells }) => rowSentence(cells, header?.names ?? []));
        return header === undefined || isTold(header, rows) ? said : [rowSentence(header.cells, []), ...said];
      })
      .filter((line) => line !== '');
  }

  /** Headers with the rows below them; headers that follow one another are one, if the first groups columns. */
  private sections(isNamed: boolean): readonly Section[] {
    const sections: Section[] = [{ header: undefined, rows: [] }];
    for (const [index, row] of this.rows.entries()) {
      const last = sections.at(-1) as Section;
      if (!row.isHeader && !(isNamed && index === 0)) last.rows.push(row);
      else if (last.header?.isGrouping === true && last.rows.length === 0) last.header = joinedHeader(last.header, row);
      else sections.push({ header: row, rows: [] });
    }
    return sections;
  }
}

interface Section {
  header: GridRow | undefined;
  readonly rows: GridRow[];
}

/** Whether each name stands in a row below: a column without values would be lost with its name. */
const isTold = ({ names }: GridRow, rows: readonly GridRow[]): boolean => {
  const told = new Set<number>();
  for (const { cells } of rows) for (const [column, cell] of cells.entries()) if (cell !== '') told.add(column);
  return names.every((name, column) => name === '' || told.has(column));
};

/** Two rows of a header: `2025` above `Q1` names a column `2025 Q1`. */
const joinedHeader = (above: GridRow, below: GridRow): GridRow => {
  const names = Array.from({ length: Math.max(above.names.length, below.names.length) }, (_, column) => {
    const [first = '', second = ''] = [above.names[column], below.names[column]];
    return first === second ? first : oneLine(`${first} ${second}`);
  });
  return { ...below, cells: names, names, isGrouping: above.isGrouping || below.isGrouping };
};

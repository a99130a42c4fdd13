import { Formula } from '../formulas';
import { Grid } from '../grid';
import { raised } from '../raised';
import { oneLine, type TextBuilder } from '../text-builder';
import { type Attributes, relationId, type XmlReader } from '../xml';
import { writeHtml } from './html';
import { writeBlock, type Written } from './html-table';
import type { Numbering } from './docx-numbering';
import { isOn, type Style } from './docx-styles';

/** What is shown twice, or no more: the copy of a text box for old programs, what was deleted, and where it was moved from. */
const SKIPPED = new Set(['Fallback', 'del', 'moveFrom']);

export interface StoryContext {
  readonly styles: ReadonlyMap<string, Style>;
  readonly numbering: Numbering;
  /** What diagrams and charts say, by the ids of their relations. */
  readonly drawn: ReadonlyMap<string, readonly string[]>;
  /** HTML that the document takes in whole, by the same. */
  readonly pages: ReadonlyMap<string, string>;
}

interface Paragraph {
  text: string;
  style: string;
  hasDeleted: boolean;
  level?: number;
  numberId?: string;
  numberLevel?: number;
}

interface Run {
  readonly start: number;
  isHidden: boolean;
  align: string;
}

interface Cell {
  readonly written: Written[];
  columns: number;
  /** Whether it goes on from the row above. */
  isContinued: boolean;
}

interface OpenTable {
  readonly grid: Grid;
  /** All that stands in its cells, for a table that only lays out the page: one with headings in it. */
  readonly kept: Written[];
  isLayout: boolean;
  row: (Omit<Cell, 'written'> & { readonly text: string })[];
  /** Texts of the row above, by their columns. */
  above: ReadonlyMap<number, string>;
  isHeader: boolean;
  hasNamingRow: boolean;
}

/** Characters of symbol fonts. */
const SIGNS: Readonly<Record<string, string>> = {
  'Wingdings F0FC': '✓',
  'Wingdings F0FB': '✗',
  'Wingdings F0FE': '☒',
  'Wingdings F0A8': '☐',
  'Wingdings F06F': '☐',
  'Wingdings F0E0': '→',
  'Symbol F0B0': '°',
  'Symbol F0B1': '±',
  'Symbol F0A3': '≤',
  'Symbol F0B3': '≥',
  'Symbol F0B4': '×',
  'Symbol F06D': 'µ',
  'Symbol F057': 'Ω',
};
const ALIGNED: Readonly<Record<string, 'above' | 'below'>> = { superscript: 'above', subscript: 'below' };
/** Of `tblLook`, in hexadecimal: the first row looks different. */
const FIRST_ROW = 0x20;

/** The running text of a part of a Word document. */
export class Story implements XmlReader {
  /** Text boxes stand in runs, and have paragraphs and runs of their own. */
  private readonly paragraphs: Paragraph[] = [];
  private readonly runs: Run[] = [];
  /** Tables nest. */
  private readonly tables: OpenTable[] = [];
  private readonly cells: Cell[] = [];
  /** Controls that are open: whether each shows what is to be filled in. */
  private readonly controls: boolean[] = [];
  private formula: Formula | undefined;
  private isText = false;
  private isOfParagraph = false;
  private skipped = 0;

  constructor(
    private readonly builder: TextBuilder,
    private readonly context: StoryContext,
  ) {}

  open(name: string, attributes: Attributes): void {
    const paragraph = this.paragraphs.at(-1);
    if (this.skipped > 0 || SKIPPED.has(name)) {
      this.skipped += 1;
      if (paragraph !== undefined) paragraph.hasDeleted = true;
    } else if (name === 't')
      this.isText = this.runs.at(-1)?.isHidden !== true && !this.controls.some((isPlaceholder) => isPlaceholder);
    else if (this.formula !== undefined) {
      const text = this.formula.open(name, attributes, paragraph?.text ?? '');
      if (paragraph !== undefined) paragraph.text = text;
    } else if (name === 'oMath') this.formula = new Formula();
    else if (name === 'p') this.paragraphs.push({ text: '', style: '', hasDeleted: false });
    else if (!this.openTable(name, attributes) && !this.openDrawn(name, attributes) && paragraph !== undefined)
      this.openIn(paragraph, name, attributes);
  }

  text(text: string): void {
    const paragraph = this.paragraphs.at(-1);
    if (this.isText && this.skipped === 0 && paragraph !== undefined) paragraph.text += text;
  }

  close(name: string): void {
    const paragraph = this.paragraphs.at(-1);
    if (this.skipped > 0) this.skipped -= 1;
    else if (name === 't') this.isText = false;
    else if (name === 'oMath') this.formula = undefined;
    else if (this.formula !== undefined) {
      const text = this.formula.close(paragraph?.text ?? '');
      if (paragraph !== undefined) paragraph.text = text;
    } else if (name === 'r') this.endRun(paragraph);
    else if (name === 'pPr') this.isOfParagraph = false;
    else if (name === 'p') this.end(this.paragraphs.pop());
    else if (name === 'tc') this.endCell();
    else if (name === 'tr') this.endRow();
    else if (name === 'tbl') this.endTable();
    else if (name === 'sdt') this.controls.pop();
  }

  private openTable(name: string, { val = '', firstRow }: Attributes): boolean {
    const table = this.tables.at(-1);
    const cell = this.cells.at(-1);
    if (name === 'tbl')
      this.tables.push({
        grid: new Grid(),
        kept: [],
        isLayout: false,
        row: [],
        above: new Map(),
        isHeader: false,
        hasNamingRow: false,
      });
    else if (name === 'tc') this.cells.push({ written: [], columns: 1, isContinued: false });
    else if (table === undefined) return false;
    else if (name === 'tr') Object.assign(table, { row: [], isHeader: false });
    else if (name === 'tblLook') table.hasNamingRow = firstRow === '1' || (Number.parseInt(val, 16) & FIRST_ROW) !== 0;
    else if (name === 'tblHeader') table.isHeader = isOn(val);
    else if (name === 'gridSpan' && cell !== undefined) cell.columns = Math.max(Number(val) || 1, 1);
    else if (name === 'vMerge' && cell !== undefined) cell.isContinued = val !== 'restart';
    else return false;
    return true;
  }

  private openDrawn(name: string, attributes: Attributes): boolean {
    if (name === 'sdt') this.controls.push(false);
    else if (name === 'showingPlcHdr' && this.controls.length > 0) this.controls[this.controls.length - 1] = true;
    else if (name === 'altChunk') writeHtml(this.builder, this.context.pages.get(relationId(attributes)) ?? '');
    else if (name === 'relIds' || name === 'chart')
      for (const text of this.context.drawn.get(attributes['dm'] ?? relationId(attributes)) ?? [])
        this.write({ kind: 'prose', text, level: 0, isListItem: false });
    else return false;
    return true;
  }

  private openIn(paragraph: Paragraph, name: string, attributes: Attributes): void {
    const { val = '', type } = attributes;
    if (name === 'r')
      this.runs.push({ start: paragraph.text.length, isHidden: this.isHidden(paragraph.style), align: '' });
    else if (name === 'pPr') this.isOfParagraph = true;
    else if (this.isOfParagraph) this.openProperty(paragraph, name, val);
    else if (name === 'tab') paragraph.text += '\t';
    else if (name === 'br' || name === 'cr') paragraph.text += type === 'page' ? ' ' : '\n';
    else if (name === 'noBreakHyphen') paragraph.text += '-';
    else if (name === 'sym')
      paragraph.text += SIGNS[`${attributes['font']} ${attributes['char']?.toUpperCase()}`] ?? '';
    else this.openRunProperty(this.runs.at(-1), name, val);
  }

  private openRunProperty(run: Run | undefined, name: string, val: string): void {
    if (run === undefined) return;
    if (name === 'vanish') run.isHidden = isOn(val);
    else if (name === 'rStyle') run.isHidden ||= this.isHidden(val);
    else if (name === 'vertAlign') run.align = val;
  }

  private openProperty(paragraph: Paragraph, name: string, val: string): void {
    if (name === 'pStyle') paragraph.style = val;
    else if (name === 'outlineLvl' && Number(val) < 9) paragraph.level = Number(val) + 1;
    else if (name === 'numId') paragraph.numberId = val;
    else if (name === 'ilvl') paragraph.numberLevel = Number(val);
  }

  private isHidden(style: string): boolean {
    return this.context.styles.get(style)?.isHidden === true;
  }

  private endRun(paragraph: Paragraph | undefined): void {
    const run = this.runs.pop();
    if (run === undefined || paragraph === undefined || !(run.align in ALIGNED)) return;
    const { text } = paragraph;
    paragraph.text = text.slice(0, run.start) + raised(text.slice(run.start), ALIGNED[run.align] ?? 'above');
  }

  private end(paragraph: Paragraph | undefined): void {
    if (paragraph === undefined) return;
    const { text, style, hasDeleted } = paragraph;
    const named = this.context.styles.get(style) ?? {};
    const level = paragraph.level ?? named.level;
    const isGone = text.trim() === '' && hasDeleted;
    const number = isGone ? undefined : this.numberOf(paragraph, named);
    if (text.trim() === '') return;
    const isCounted = number !== undefined && number !== '' && number !== '-';
    this.write({
      kind: level === undefined ? 'prose' : 'heading',
      text: isCounted ? `${number} ${text}` : text,
      level: level ?? 0,
      isListItem: level === undefined && number === '-',
    });
  }

  private numberOf({ style, numberId, numberLevel }: Paragraph, named: Style): string | undefined {
    const list = numberId ?? named.numberId;
    if (list === undefined || list === '0') return undefined;
    const number = this.context.numbering.next(list, numberLevel ?? named.numberLevel, style);
    // A list that the document does not describe still is one.
    return number ?? (numberId === undefined ? undefined : '-');
  }

  private write(written: Written): void {
    const [cell, table] = [this.cells.at(-1), this.tables.at(-1)];
    if (cell === undefined) return writeBlock(this.builder, written);
    cell.written.push(written);
    if (table !== undefined && written.kind === 'heading') table.isLayout = true;
  }

  private endCell(): void {
    const [cell, table] = [this.cells.pop(), this.tables.at(-1)];
    if (cell === undefined || table === undefined) return;
    const { written, columns, isContinued } = cell;
    table.kept.push(...written);
    table.row.push({ text: oneLine(written.map(({ text }) => text).join(' ')), columns, isContinued });
  }

  private endRow(): void {
    const table = this.tables.at(-1);
    if (table === undefined || table.row.every(({ text }) => text === '')) return;
    const above = new Map<number, string>();
    let column = 0;
    const cells = table.row.map(({ text, columns, isContinued }) => {
      const shown = isContinued && text === '' ? (table.above.get(column) ?? '') : text;
      above.set(column, shown);
      column += columns;
      return { text: shown, columns, rows: 1 };
    });
    table.above = above;
    table.grid.add(cells, table.isHeader);
  }

  private endTable(): void {
    const table = this.tables.pop();
    if (table === undefined) return;
    const { grid, hasNamingRow, isLayout, kept } = table;
    const lines = grid.lines(hasNamingRow && grid.hasNamingRow);
    const isNone = isLayout || grid.width <= 1;
    for (const written of isNone ? kept : lines.map(lineOf)) this.write(written);
  }
}

const lineOf = (text: string): Written => ({ kind: 'lines', text, level: 0, isListItem: false });

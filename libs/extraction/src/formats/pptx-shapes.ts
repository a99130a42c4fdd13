import { Formula } from '../formulas';
import { Grid, type SpanningCell } from '../grid';
import { raised } from '../raised';
import { oneLine } from '../text-builder';
import { type Attributes, relationId, type XmlReader } from '../xml';

/** Placeholders that repeat on every slide. */
const REPEATED = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);

/** The shapes of a slide. */
export class Shapes implements XmlReader {
  title = '';
  readonly paragraphs: string[] = [];
  private placeholder = '';
  private text_ = '';
  private isText = false;
  private runStart = 0;
  private baseline = 0;
  private grid: Grid | undefined;
  private hasNamingRow = false;
  private row: SpanningCell[] = [];
  /** Undefined where it is part of another cell. */
  private cell: SpanningCell | undefined;
  private formula: Formula | undefined;
  private skipped = 0;

  /** `drawn`: what diagrams and charts say, by the ids of their relations. */
  constructor(private readonly drawn: ReadonlyMap<string, readonly string[]> = new Map()) {}

  open(name: string, attributes: Attributes): void {
    const { type = 'body', baseline = '0' } = attributes;
    // What old programs show in the place of what they do not know.
    if (this.skipped > 0 || name === 'Fallback') this.skipped += 1;
    else if (name === 't') this.isText = true;
    else if (this.formula !== undefined) this.text_ = this.formula.open(name, attributes, this.text_);
    else if (name === 'oMath') this.formula = new Formula();
    else if (name === 'sp') this.placeholder = '';
    else if (name === 'ph') this.placeholder = type;
    else if (name === 'p') this.text_ = '';
    else if (name === 'r') [this.runStart, this.baseline] = [this.text_.length, 0];
    else if (name === 'rPr') this.baseline = Number(baseline);
    else if (name === 'br') this.text_ += ' ';
    else this.openTable(name, attributes);
  }

  text(text: string): void {
    if (this.isText && this.skipped === 0) this.text_ += text;
  }

  close(name: string): void {
    if (this.skipped > 0) this.skipped -= 1;
    else if (name === 't') this.isText = false;
    else if (name === 'oMath') this.formula = undefined;
    else if (this.formula !== undefined) this.text_ = this.formula.close(this.text_);
    else if (name === 'r' && this.baseline !== 0) {
      const to = this.baseline > 0 ? 'above' : 'below';
      this.text_ = this.text_.slice(0, this.runStart) + raised(this.text_.slice(this.runStart), to);
    } else if (name === 'p') this.end(oneLine(this.text_));
    else if (name === 'tc' && this.cell !== undefined) {
      this.row.push({ ...this.cell, text: oneLine(this.cell.text) });
      this.cell = undefined;
    } else if (name === 'tr') this.grid?.add(this.row, false);
    else if (name === 'tbl') this.endTable();
    else if (name === 'sp') this.placeholder = '';
  }

  private openTable(name: string, attributes: Attributes): void {
    const { firstRow, gridSpan = '1', rowSpan = '1', hMerge, vMerge } = attributes;
    if (name === 'tbl') [this.grid, this.hasNamingRow] = [new Grid(), false];
    else if (name === 'tblPr') this.hasNamingRow = firstRow === '1' || firstRow === 'true';
    else if (name === 'tr') this.row = [];
    else if (name === 'tc')
      this.cell = ![hMerge, vMerge].some((merged) => merged === '1' || merged === 'true')
        ? { text: '', columns: Math.max(Number(gridSpan) || 1, 1), rows: Number(rowSpan) || 1 }
        : undefined;
    else if (name === 'relIds' || name === 'chart')
      for (const text of this.drawn.get(attributes['dm'] ?? relationId(attributes)) ?? []) this.paragraphs.push(text);
  }

  private end(text: string): void {
    if (text === '' || REPEATED.has(this.placeholder)) return;
    if (this.grid !== undefined) {
      if (this.cell !== undefined) this.cell = { ...this.cell, text: `${this.cell.text}${text} ` };
    } else if (this.placeholder === 'title' || this.placeholder === 'ctrTitle')
      this.title = `${this.title} ${text}`.trim();
    else this.paragraphs.push(text);
  }

  private endTable(): void {
    const { grid } = this;
    this.grid = undefined;
    if (grid !== undefined) this.paragraphs.push(...grid.lines(this.hasNamingRow && grid.hasNamingRow));
  }
}

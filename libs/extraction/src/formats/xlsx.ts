import { type Archive, resolved } from '../archive';
import { type Extraction, fail } from '../extraction';
import { Table } from '../table';
import { TextBuilder } from '../text-builder';
import { type Attributes, partOf, readXml, relationId, relationsOf, type XmlReader } from '../xml';
import { dateStyles, dateText } from './xlsx-dates';

/** Excel's own. */
const MAX_COLUMNS = 16_384;
const MAX_CHARACTERS = 64 * 1024 ** 2;

/** The sheets of a workbook, whose main part is named, row by row with their headers: at the name of the sheet and the number of the row. Formulas show their last value. */
export const extractXlsx = async (archive: Archive, main: string): Promise<Extraction> => {
  const builder = new TextBuilder();
  const texts = await partOf(archive, main, { type: 'sharedStrings', usual: 'xl/sharedStrings.xml' });
  const strings = texts === undefined ? [] : await stringsOf(archive, texts);
  const styles = await partOf(archive, main, { type: 'styles', usual: 'xl/styles.xml' });
  const dates = styles === undefined ? new Set<number>() : await dateStyles(archive, styles);
  const { sheets, is1904 } = await workbookOf(archive, main);
  for (const { name, part } of sheets) {
    const table = new Table();
    await readXml(
      archive,
      part,
      new Sheet(table, (type, style, value) => {
        if (type === 's') return strings[Number(value)] ?? '';
        if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
        if (type === 'n') return dates.has(style) ? dateText(Number(value), is1904) : numberText(value);
        return value;
      }),
    );
    // A name alone says nothing: every new workbook has a `Sheet1`.
    if (table.isEmpty) continue;
    const place = { sheet: name.slice(0, 200).toWellFormed() };
    builder.at(place);
    builder.heading(1, name);
    table.write(builder, place);
  }
  return builder.build();
};

const workbookOf = async (archive: Archive, main: string) => {
  const relations = await relationsOf(archive, main);
  const sheets: { readonly name: string; readonly part: string }[] = [];
  let is1904 = false;
  await readXml(archive, main, {
    open: (element, attributes) => {
      if (element === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
      if (element !== 'sheet') return;
      const relation = relations.get(relationId(attributes));
      const part = relation && resolved(main, relation.target);
      if (relation?.type === 'worksheet' && part !== undefined && archive.has(part))
        sheets.push({ name: attributes['name'] ?? '', part });
    },
  });
  return { sheets, is1904 };
};

/** The texts that cells refer to, without the readings beside Japanese ones. */
const stringsOf = async (archive: Archive, part: string): Promise<readonly string[]> => {
  const strings: string[] = [];
  let characters = 0;
  let text = '';
  let isText = false;
  let readings = 0;
  await readXml(archive, part, {
    open: (name) => {
      if (name === 'si') text = '';
      else if (name === 'rPh') readings += 1;
      else if (name === 't') isText = readings === 0;
    },
    text: (piece) => {
      if (isText) text += piece;
    },
    close: (name) => {
      if (name === 't') isText = false;
      else if (name === 'rPh') readings -= 1;
      else if (name === 'si') {
        characters += text.length + 16;
        if (characters > MAX_CHARACTERS) fail('too_many_passages');
        strings.push(text);
      }
    },
  });
  return strings;
};

/** A number as it is shown: with the 15 digits that Excel keeps. */
const numberText = (value: string): string =>
  /^-?\d{1,15}$/.test(value) || !Number.isFinite(Number(value)) ? value : String(Number(Number(value).toPrecision(15)));

class Sheet implements XmlReader {
  private rowNumber = 0;
  private cells: string[] = [];
  private column = -1;
  private type = 'n';
  private style = -1;
  private value = '';
  private isValue = false;

  constructor(
    private readonly table: Table,
    private readonly shown: (type: string, style: number, value: string) => string,
  ) {}

  open(name: string, { r, t = 'n', s }: Attributes): void {
    if (name === 'row') {
      this.rowNumber = r === undefined ? this.rowNumber + 1 : Number(r);
      if (!Number.isSafeInteger(this.rowNumber) || this.rowNumber < 1) fail('malformed');
      this.cells = [];
      this.column = -1;
    } else if (name === 'c') {
      this.column = r === undefined ? this.column + 1 : columnOf(r);
      if (this.column >= MAX_COLUMNS) fail('malformed');
      this.type = t;
      this.style = s === undefined ? -1 : Number(s);
      this.value = '';
    } else if (name === 'v' || name === 't') this.isValue = true;
  }

  text(text: string): void {
    if (this.isValue) this.value += text;
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.isValue = false;
    else if (name === 'c' && this.value !== '') {
      while (this.cells.length < this.column) this.cells.push('');
      this.cells[this.column] = this.shown(this.type, this.style, this.value);
    } else if (name === 'row') this.table.add(this.rowNumber, this.cells);
  }
}

/** `BC12` is in column 54, counted from 0. */
const columnOf = (reference: string): number => {
  let column = 0;
  for (const letter of /^[A-Z]{0,4}/.exec(reference)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
  return column === 0 ? fail('malformed') : column - 1;
};

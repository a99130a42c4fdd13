import { type Archive, resolved } from '../archive';
import { type Extraction, fail } from '../extraction';
import { Table } from '../table';
import { TextBuilder } from '../text-builder';
import { partOf, partsOf, readXml, relationId, relationsOf } from '../xml';
import { drawingTexts } from './drawing';
import { numberStyles, plainNumber } from './xlsx-numbers';
import { SheetReader, sheetTableOf } from './xlsx-sheet';

const MAX_CHARACTERS = 64 * 1024 ** 2;

/**
 * The sheets of a workbook, whose main part is named, row by row with their headers: at the name of the sheet and the number of the
 * row; then its text boxes. Formulas show their last value, numbers what their format shows. What was hidden by hand is passed over.
 */
export const extractXlsx = async (archive: Archive, main: string): Promise<Extraction> => {
  const builder = new TextBuilder();
  const texts = await partOf(archive, main, { type: 'sharedStrings', usual: 'xl/sharedStrings.xml' });
  const strings = texts === undefined ? [] : await stringsOf(archive, texts);
  const stylesPart = await partOf(archive, main, { type: 'styles', usual: 'xl/styles.xml' });
  const styles = stylesPart === undefined ? [] : await numberStyles(archive, stylesPart);
  const { sheets, is1904 } = await workbookOf(archive, main);
  for (const { name, part } of sheets) {
    const table = new Table();
    const sheet = new SheetReader(table, (type, style, value) => {
      if (type === 's') return strings[Number(value)] ?? '';
      if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
      return type === 'n' ? (styles[style] ?? plainNumber)(value, is1904) : value;
    });
    await readXml(archive, part, sheet);
    for (const merged of sheet.merged) table.merge(merged);
    let { isFiltered } = sheet;
    for (const each of await partsOf(archive, part, 'table')) {
      const { range, isFiltered: isFilteredTable } = await sheetTableOf(archive, each);
      if (range !== undefined) table.name(range);
      isFiltered ||= isFilteredTable;
    }
    if (sheet.hasHiddenRows && !isFiltered) table.dropHidden();
    const boxes = await textBoxesOf(archive, part);
    // A name alone says nothing: every new workbook has a `Sheet1`.
    if (table.isEmpty && boxes.length === 0) continue;
    const place = { sheet: name.slice(0, 200).toWellFormed() };
    builder.at(place);
    builder.heading(1, name);
    table.write(builder, place);
    for (const box of boxes) builder.prose(box);
  }
  return builder.build();
};

const textBoxesOf = async (archive: Archive, sheet: string): Promise<readonly string[]> => {
  const texts: string[] = [];
  for (const part of await partsOf(archive, sheet, 'drawing')) texts.push(...(await drawingTexts(archive, part)));
  return texts;
};

const workbookOf = async (archive: Archive, main: string) => {
  const relations = await relationsOf(archive, main);
  const sheets: { readonly name: string; readonly part: string }[] = [];
  let is1904 = false;
  await readXml(archive, main, {
    open: (element, attributes) => {
      if (element === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
      if (element !== 'sheet' || /hidden/i.test(attributes['state'] ?? '')) return;
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

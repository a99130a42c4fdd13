import { type Archive, resolved } from '../archive';
import { rowSentence } from '../table-names';
import { oneLine } from '../text-builder';
import { readXml, relationsOf } from '../xml';

/** The paragraphs of a drawing: of text boxes on a sheet, of a diagram. */
export const drawingTexts = async (archive: Archive, part: string): Promise<readonly string[]> => {
  const texts: string[] = [];
  let text = '';
  let isText = false;
  let skipped = 0;
  await readXml(archive, part, {
    open: (name) => {
      if (skipped > 0 || name === 'Fallback') skipped += 1;
      else if (name === 'p') text = '';
      else if (name === 'br') text += ' ';
      else isText = name === 't';
    },
    text: (piece) => {
      if (isText && skipped === 0) text += piece;
    },
    close: (name) => {
      if (skipped > 0) skipped -= 1;
      else if (name === 't') isText = false;
      else if (name === 'p' && oneLine(text) !== '') texts.push(oneLine(text));
    },
  });
  return texts;
};

/** A chart as a table: its title, then for each category what each series has, as far as the document keeps it. */
const chartTexts = async (archive: Archive, part: string): Promise<readonly string[]> => {
  const titles: string[] = [];
  const series: { name: string; categories: string[]; values: string[] }[] = [];
  const path: string[] = [];
  let text = '';
  let index = -1;
  await readXml(archive, part, {
    open: (name, { idx }) => {
      path.push(name);
      text = '';
      if (name === 'ser') series.push({ name: '', categories: [], values: [] });
      else if (name === 'pt' && idx !== undefined) index = Number(idx);
    },
    text: (piece) => {
      text += piece;
    },
    close: (name) => {
      path.pop();
      const last = series.at(-1);
      const within = path.findLast((each) => WITHIN.has(each));
      if (name === 't' && path.includes('title')) titles.push(text);
      if (name !== 'v' || last === undefined || !(index >= 0 && index < MAX_POINTS)) return;
      if (within === 'tx') last.name = text;
      else if (within === 'cat' || within === 'xVal') last.categories[index] = text;
      else if (within === 'val' || within === 'yVal') last.values[index] = text;
    },
  });
  const [longest] = series.toSorted((a, b) => b.values.length - a.values.length);
  const [named] = series.filter(({ categories }) => categories.length > 0);
  const header = ['', ...series.map(({ name }) => oneLine(name))];
  const rows = Array.from({ length: longest?.values.length ?? 0 }, (_, at) =>
    rowSentence(
      [named?.categories[at] ?? '', ...series.map(({ values }) => values[at] ?? '')].map((cell) => oneLine(cell)),
      header,
    ),
  );
  return [oneLine(titles.join(' ')), ...rows].filter((line) => line !== '');
};

const WITHIN = new Set(['title', 'tx', 'cat', 'val', 'xVal', 'yVal']);
const MAX_POINTS = 5_000;

/** What diagrams and charts say, by the ids of their relations to the part. */
export const drawnIn = async (archive: Archive, from: string): Promise<ReadonlyMap<string, readonly string[]>> => {
  const drawn = new Map<string, readonly string[]>();
  for (const [id, { type, target }] of await relationsOf(archive, from)) {
    const part = resolved(from, target);
    if ((type !== 'chart' && type !== 'diagramData') || !archive.has(part)) continue;
    drawn.set(id, await (type === 'chart' ? chartTexts : drawingTexts)(archive, part));
  }
  return drawn;
};

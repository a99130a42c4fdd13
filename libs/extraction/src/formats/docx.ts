import type { Archive } from '../archive';
import type { Extraction } from '../extraction';
import { rowSentence } from '../table';
import { oneLine, TextBuilder } from '../text-builder';
import { type Attributes, partOf, partsOf, readXml, type XmlReader } from '../xml';

/** What is shown twice, or no more: the copy of a text box for old programs, what was deleted, and where it was moved from. */
const SKIPPED = new Set(['Fallback', 'del', 'moveFrom']);

/**
 * A Word document, whose main part is named: headings by their styles, paragraphs, lists, rows of tables; at the end notes, and what
 * stands at the top and the foot of pages. What was deleted, and macros, are passed over.
 */
export const extractDocx = async (archive: Archive, main: string): Promise<Extraction> => {
  const builder = new TextBuilder();
  const styles = await partOf(archive, main, { type: 'styles', usual: 'word/styles.xml' });
  const levels = styles === undefined ? new Map<string, number>() : await headingStyles(archive, styles);
  await readXml(archive, main, new Story(builder, levels));
  for (const type of ['footnotes', 'endnotes']) {
    const notes = await partOf(archive, main, { type, usual: `word/${type}.xml` });
    if (notes !== undefined) await readXml(archive, notes, new Story(builder, levels));
  }
  const told = new Set<string>();
  for (const type of ['header', 'footer'])
    for (const part of await partsOf(archive, main, type)) {
      const repeated = new TextBuilder();
      await readXml(archive, part, new Story(repeated, levels));
      if (repeated.isEmpty) continue;
      const { text, blocks } = repeated.build();
      // First, even and other pages mostly have the same.
      if (!told.has(text)) builder.include({ text, blocks }, 6);
      told.add(text);
    }
  return builder.build();
};

/** Levels of the styles of headings, which are called as the language of the author has it: `Heading1`, `berschrift1`. */
const headingStyles = async (archive: Archive, part: string): Promise<ReadonlyMap<string, number>> => {
  const levels = new Map<string, number>();
  const parents = new Map<string, string>();
  let style = '';
  await readXml(archive, part, {
    open: (name, { styleId, val = '' }) => {
      if (name === 'style') style = styleId ?? '';
      else if (name === 'basedOn') parents.set(style, val);
      else if (name === 'outlineLvl' && Number(val) < 9) levels.set(style, Number(val) + 1);
      else if (name === 'name') {
        const level = /^heading (\d)$/i.exec(val)?.[1] ?? (/^title$/i.test(val) ? '1' : undefined);
        if (level !== undefined) levels.set(style, Number(level));
      }
    },
  });
  for (const child of parents.keys()) {
    const level = inherited(child, parents, levels);
    if (level !== undefined) levels.set(child, level);
  }
  return levels;
};

/** Styles may be based on each other in a circle. */
const inherited = (
  style: string,
  parents: ReadonlyMap<string, string>,
  levels: ReadonlyMap<string, number>,
): number | undefined => {
  let at: string | undefined = style;
  for (let steps = 0; at !== undefined && steps < 20; steps += 1) {
    const level = levels.get(at);
    if (level !== undefined) return level;
    at = parents.get(at);
  }
  return undefined;
};

interface Paragraph {
  text: string;
  style: string;
  level: number | undefined;
  isListItem: boolean;
}

/** The running text of a part of the document. */
class Story implements XmlReader {
  private readonly paragraphs: Paragraph[] = [];
  /** Cells of the rows that are open; tables nest. */
  private readonly rows: string[][] = [];
  private readonly cells: string[] = [];
  private isText = false;
  private skipped = 0;

  constructor(
    private readonly builder: TextBuilder,
    private readonly levels: ReadonlyMap<string, number>,
  ) {}

  open(name: string, { val = '', type }: Attributes): void {
    if (this.skipped > 0 || SKIPPED.has(name)) {
      this.skipped += 1;
      return;
    }
    const paragraph = this.paragraphs.at(-1);
    if (name === 'p') this.paragraphs.push({ text: '', style: '', level: undefined, isListItem: false });
    else if (name === 't') this.isText = true;
    else if (name === 'tr') this.rows.push([]);
    else if (name === 'tc') this.cells.push('');
    else if (paragraph === undefined) return;
    else if (name === 'pStyle') paragraph.style = val;
    else if (name === 'outlineLvl' && Number(val) < 9) paragraph.level = Number(val) + 1;
    else if (name === 'numPr') paragraph.isListItem = true;
    else if (name === 'tab') paragraph.text += '\t';
    else if (name === 'br' || name === 'cr') paragraph.text += type === 'page' ? ' ' : '\n';
    else if (name === 'noBreakHyphen') paragraph.text += '-';
  }

  text(text: string): void {
    const paragraph = this.paragraphs.at(-1);
    if (this.isText && this.skipped === 0 && paragraph !== undefined) paragraph.text += text;
  }

  close(name: string): void {
    if (this.skipped > 0) {
      this.skipped -= 1;
      return;
    }
    if (name === 't') this.isText = false;
    else if (name === 'p') this.end(this.paragraphs.pop());
    else if (name === 'tc') this.rows.at(-1)?.push(oneLine(this.cells.pop() ?? ''));
    else if (name === 'tr') this.row(this.rows.pop() ?? []);
  }

  private end(paragraph: Paragraph | undefined): void {
    if (paragraph === undefined) return;
    const { text, style, level = this.levels.get(style), isListItem } = paragraph;
    if (this.cells.length > 0) this.cells[this.cells.length - 1] += `${text} `;
    else if (level !== undefined && text.trim() !== '') this.builder.heading(level, text);
    else if (text.trim() !== '') this.builder.prose(isListItem ? `- ${text}` : text);
  }

  private row(cells: readonly string[]): void {
    const line = rowSentence(cells, []);
    if (this.cells.length > 0) this.cells[this.cells.length - 1] += `${line} `;
    else this.builder.lines(line);
  }
}

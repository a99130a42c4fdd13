import { type Archive, resolved } from '../archive';
import { decodeText } from '../encodings';
import type { Extraction } from '../extraction';
import { formatOf } from '../format';
import { TextBuilder } from '../text-builder';
import { partOf, partsOf, readXml, relationsOf } from '../xml';
import { numberingOf } from './docx-numbering';
import { Story, type StoryContext } from './docx-story';
import { stylesOf } from './docx-styles';
import { drawnIn } from './drawing';
import { pageCharset } from './html';

/**
 * A Word document, whose main part is named: headings by their styles, paragraphs and lists with their numbers, rows of tables,
 * diagrams and charts; at the end notes, and what stands at the top and the foot of pages. What was deleted, hidden text, comments
 * and macros are passed over.
 */
export const extractDocx = async (archive: Archive, main: string): Promise<Extraction> => {
  const builder = new TextBuilder();
  const stylesPart = await partOf(archive, main, { type: 'styles', usual: 'word/styles.xml' });
  const styles = await stylesOf(archive, stylesPart);
  const numberingPart = await partOf(archive, main, { type: 'numbering', usual: 'word/numbering.xml' });
  const numbering = await numberingOf(archive, numberingPart);
  const context: StoryContext = {
    styles,
    numbering,
    drawn: await drawnIn(archive, main),
    pages: await pagesIn(archive, main),
  };
  await readXml(archive, main, new Story(builder, context));
  for (const type of ['footnotes', 'endnotes']) {
    const notes = await partOf(archive, main, { type, usual: `word/${type}.xml` });
    if (notes !== undefined) await readXml(archive, notes, new Story(builder, context));
  }
  const told = new Set<string>();
  for (const type of ['header', 'footer'])
    for (const part of await partsOf(archive, main, type)) {
      const repeated = new TextBuilder();
      await readXml(archive, part, new Story(repeated, context));
      if (repeated.isEmpty) continue;
      const { text, blocks } = repeated.build();
      // First, even and other pages mostly have the same.
      if (!told.has(text)) builder.include({ text, blocks }, 6);
      told.add(text);
    }
  return builder.build();
};

/** Pages that a document takes in whole, by the ids of their relations; programs that turn pages into documents leave it to Word to read them. */
const pagesIn = async (archive: Archive, main: string): Promise<ReadonlyMap<string, string>> => {
  const pages = new Map<string, string>();
  for (const [id, { type, target }] of await relationsOf(archive, main)) {
    const part = resolved(main, target);
    if (type !== 'aFChunk' || !archive.has(part)) continue;
    const body = await archive.read(part);
    const format = formatOf({ name: part, mimeType: '', body });
    if (format === 'html') pages.set(id, decodeText(body, 'malformed', pageCharset(body)));
  }
  return pages;
};

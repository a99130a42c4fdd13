import { type Archive, resolved } from '../archive';
import { type Extraction } from '../extraction';
import { rowSentence } from '../table';
import { oneLine, TextBuilder } from '../text-builder';
import { type Attributes, partsOf, readXml, relationId, relationsOf, type XmlReader } from '../xml';

/** The slides of a presentation, whose main part is named, in their order, each with its number: title, text, rows of tables, then the notes of the speaker. */
export const extractPptx = async (archive: Archive, main: string): Promise<Extraction> => {
  const builder = new TextBuilder();
  for (const [index, slide] of (await slidesOf(archive, main)).entries()) {
    if (!archive.has(slide)) continue;
    builder.at({ slide: index + 1 });
    const read = new Shapes();
    await readXml(archive, slide, read);
    // A slide without a title is not under that of the slide before.
    builder.heading(1, read.title);
    // What is found by its title alone must have it in its text.
    if (read.paragraphs.length === 0) builder.prose(read.title);
    for (const paragraph of read.paragraphs) builder.prose(paragraph);
    for (const notes of await partsOf(archive, slide, 'notesSlide')) {
      const said = new Shapes();
      await readXml(archive, notes, said);
      for (const paragraph of said.paragraphs) builder.prose(paragraph);
    }
  }
  return builder.build();
};

/** Their entries. One that is not there keeps its number. */
const slidesOf = async (archive: Archive, main: string): Promise<readonly string[]> => {
  const relations = await relationsOf(archive, main);
  const slides: string[] = [];
  await readXml(archive, main, {
    open: (name, attributes) => {
      if (name !== 'sldId') return;
      const relation = relations.get(relationId(attributes));
      slides.push(relation === undefined ? '' : resolved(main, relation.target));
    },
  });
  return slides;
};

/** Placeholders that repeat on every slide. */
const REPEATED = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);

/** The shapes of a slide. */
class Shapes implements XmlReader {
  title = '';
  readonly paragraphs: string[] = [];
  private placeholder = '';
  private text_ = '';
  private isText = false;
  private row: string[] | undefined;
  private cell = '';

  open(name: string, { type = 'body' }: Attributes): void {
    if (name === 'sp') this.placeholder = '';
    else if (name === 'ph') this.placeholder = type;
    else if (name === 'p') this.text_ = '';
    else if (name === 't') this.isText = true;
    else if (name === 'br') this.text_ += ' ';
    else if (name === 'tr') this.row = [];
    else if (name === 'tc') this.cell = '';
  }

  text(text: string): void {
    if (this.isText) this.text_ += text;
  }

  close(name: string): void {
    if (name === 't') this.isText = false;
    else if (name === 'p') this.end(oneLine(this.text_));
    else if (name === 'tc') this.row?.push(oneLine(this.cell));
    else if (name === 'tr') {
      const line = rowSentence(this.row ?? [], []);
      this.row = undefined;
      if (line !== '') this.paragraphs.push(line);
    } else if (name === 'sp') this.placeholder = '';
  }

  private end(text: string): void {
    if (text === '' || REPEATED.has(this.placeholder)) return;
    if (this.row !== undefined) this.cell += `${text} `;
    else if (this.placeholder === 'title' || this.placeholder === 'ctrTitle')
      this.title = `${this.title} ${text}`.trim();
    else this.paragraphs.push(text);
  }
}

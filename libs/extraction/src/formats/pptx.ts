import { type Archive, resolved } from '../archive';
import { type Extraction } from '../extraction';
import { TextBuilder } from '../text-builder';
import { partsOf, readXml, relationId, relationsOf } from '../xml';
import { drawnIn } from './drawing';
import { Shapes } from './pptx-shapes';

/** The slides of a presentation, whose main part is named, in their order, each with its number: title, text, rows of tables, diagrams and charts, then the notes of the speaker. */
export const extractPptx = async (archive: Archive, main: string): Promise<Extraction> => {
  const builder = new TextBuilder();
  for (const [index, slide] of (await slidesOf(archive, main)).entries()) {
    if (!archive.has(slide)) continue;
    builder.at({ slide: index + 1 });
    const read = new Shapes(await drawnIn(archive, slide));
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

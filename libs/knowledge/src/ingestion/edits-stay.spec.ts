import type { StoredPassage } from '@app/search-index';
import * as fc from 'fast-check';
import { cutAtEdits } from './cut-at-edits';
import { withEdits } from './kept-edits';

const DOCUMENT = '01900000-0000-7000-8000-000000000001';
const WORDS = 24;
/** Each word is another, so each is found where it stands alone. */
const word = (index: number): string => `word${String(index).padStart(2, '0')}.`;
const TEXT = Array.from({ length: WORDS }, (_, index) => word(index)).join(' ');
const startOf = (index: number): number => index * 8;

/** Chunks of so many words each, which repeat some of the words before them. */
const chunksOf = (text: string, lengths: readonly number[], overlap: number): readonly StoredPassage[] => {
  const chunks: StoredPassage[] = [];
  const words = text.split(' ').length;
  for (let from = 0, at = 0; from < words; at += 1) {
    const to = Math.min(words, from + (lengths[at % lengths.length] as number));
    const first = at === 0 ? from : Math.max(0, from - overlap);
    const [start, end] = [startOf(first), startOf(to) - 1];
    chunks.push({
      chunkId: `${at}:${text.slice(start, end)}`,
      ordinal: at,
      text: text.slice(start, end),
      headings: [],
      start,
      end,
      enabled: true,
    });
    from = to;
  }
  return chunks;
};
const wordsIn = (texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => text.match(/word\d\d/g) ?? [])),
];

const lengths = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 });
const cutting = fc.record({ lengths, overlap: fc.nat(2) });
const edits = fc.array(fc.constantFrom('none', 'none', 'edited', 'disabled', 'both'), { minLength: 1, maxLength: 8 });

it('whatever was edited or disabled is so again, once, and nothing beside it goes, however the text is cut and moved', () => {
  fc.assert(
    fc.property(cutting, cutting, edits, fc.nat(3), (before, after, marks, added) => {
      const passages = chunksOf(TEXT, before.lengths, before.overlap).map((chunk, index): StoredPassage => {
        const mark = marks[index % marks.length];
        const isEdited = mark === 'edited' || mark === 'both';
        return {
          ...chunk,
          enabled: mark === 'none' || mark === 'edited',
          ...(isEdited ? { text: `Said otherwise ${index}.`, edited: true } : {}),
        };
      });
      const marked = passages.filter(({ enabled, edited }) => edited === true || !enabled);
      const previous = { passages, edited: new Set(marked.map(({ chunkId }) => chunkId)), text: TEXT };
      const text = `${'addedx. '.repeat(added)}${TEXT}`;
      const cut = cutAtEdits(DOCUMENT, chunksOf(text, after.lengths, after.overlap), previous, text);
      const { passages: now, dropped } = withEdits(cut, previous, text);

      expect(dropped).toBe(0);
      expect(new Set(now.map(({ chunkId }) => chunkId)).size).toBe(now.length);
      expect(now.map(({ ordinal }) => ordinal)).toEqual(now.map((_, index) => index));
      for (const { text: said, enabled } of marked.filter(({ edited }) => edited === true))
        expect(now.filter((chunk) => chunk.text === said && chunk.enabled === enabled)).toHaveLength(1);
      const shownBefore = wordsIn(passages.filter(({ enabled }) => enabled).map((chunk) => chunk.text));
      const shownNow = wordsIn(now.filter(({ enabled }) => enabled).map((chunk) => chunk.text));
      expect(shownNow.filter((each) => !shownBefore.includes(each))).toEqual([]);
      // What a neighbour repeats of them may go with them.
      const ofMarked = wordsIn(marked.map(({ start, end }) => TEXT.slice(start, end)));
      expect(shownBefore.filter((each) => !shownNow.includes(each) && !ofMarked.includes(each))).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

import type { StoredPassage } from '@app/search-index';
import { cutAtDisabled } from './cut-at-disabled';

const DOCUMENT = '01900000-0000-7000-8000-000000000001';
const TEXT = 'One two. Three four. Five six.';

/** A chunk of the text. */
const chunk = (text: string, enabled = true): StoredPassage => {
  const start = TEXT.indexOf(text);
  return { chunkId: text, ordinal: 0, text, headings: ['H'], start, end: start + text.length, enabled, page: 3 };
};
const cut = (now: readonly string[], passages: readonly StoredPassage[], text = TEXT): readonly StoredPassage[] =>
  cutAtDisabled(
    DOCUMENT,
    now.map((one) => chunk(one)),
    { passages, edited: new Set(), text },
  );
const texts = (passages: readonly StoredPassage[]): readonly string[] => passages.map(({ text }) => text);

it('a larger chunk is cut where a disabled one begins and ends', () => {
  const found = cut([TEXT], [chunk('One two.'), chunk('Three four.', false), chunk('Five six.')]);
  expect(texts(found)).toEqual(['One two.', 'Three four.', 'Five six.']);
  expect(found.map(({ start, end }) => TEXT.slice(start, end))).toEqual(texts(found));
  expect(found.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
  expect(found.every(({ page, headings }) => page === 3 && headings[0] === 'H')).toBe(true);
  expect(new Set(found.map(({ chunkId }) => chunkId)).size).toBe(3);
  expect(cut([TEXT], [chunk('One two.'), chunk('Three four.', false), chunk('Five six.')])).toEqual(found);
});

it('chunks that reach into a disabled one, or repeat a part of it, are cut at its edge', () => {
  const former = [chunk('One two.'), chunk('Three four.', false), chunk('Five six.')];
  expect(texts(cut(['One two. Three', 'Three four. Five', 'Five six.'], former))).toEqual([
    'One two.',
    'Three',
    'Three four.',
    'Five',
    'Five six.',
  ]);
});

it('of what a chunk repeats of the one before, no piece is left', () => {
  const former = [chunk('One two.'), chunk('Three four.', false), chunk('Five six.')];
  expect(texts(cut(['One two. Three four.', 'two. Three four. Five six.'], former))).toEqual([
    'One two.',
    'Three four.',
    'Five six.',
  ]);
});

it('a chunk that was there before stays whole, though its disabled neighbour repeats a part of it', () => {
  const former = [chunk('One two. Three'), chunk('Three four.', false), chunk('Five six.')];
  expect(texts(cut(['One two. Three', 'Three four.', 'Five six.'], former))).toEqual([
    'One two. Three',
    'Three four.',
    'Five six.',
  ]);
  expect(texts(cut([TEXT], former))).toEqual(['One two. Three', 'four.', 'Five six.']);
});

it('nothing is cut where no chunk was disabled, or the text is another', () => {
  const now = [chunk(TEXT)];
  const enabled = { passages: [chunk('One two.'), chunk('Three four.')], edited: new Set<string>(), text: TEXT };
  expect(cutAtDisabled(DOCUMENT, now, enabled)).toBe(now);
  const other = { passages: [chunk('Three four.', false)], edited: new Set<string>(), text: `${TEXT.slice(0, -1)}!` };
  expect(cutAtDisabled(DOCUMENT, now, other)).toBe(now);
});

import type { StoredPassage } from '@app/search-index';
import { cutAtEdits } from './cut-at-edits';

const DOCUMENT = '01900000-0000-7000-8000-000000000001';
const TEXT = 'One two. Three four. Five six.';

/** A chunk of the text. */
const chunk = (text: string, enabled = true): StoredPassage => {
  const start = TEXT.indexOf(text);
  return { chunkId: text, ordinal: 0, text, headings: ['H'], start, end: start + text.length, enabled, page: 3 };
};
/** Chunks of a text that were edited or disabled are so before it is cut to other ones. */
const cut = (now: readonly string[], passages: readonly StoredPassage[], text = TEXT): readonly StoredPassage[] =>
  cutAtEdits(
    DOCUMENT,
    now.map((one) => ({ ...chunk(one), start: text.indexOf(one), end: text.indexOf(one) + one.length })),
    { passages, edited: idsOf(passages.filter(({ edited, enabled }) => edited === true || !enabled)), text: TEXT },
    text,
  );
const idsOf = (passages: readonly StoredPassage[]): ReadonlySet<string> =>
  new Set(passages.map(({ chunkId }) => chunkId));
const rewritten = (text: string): StoredPassage => ({ ...chunk(text), text: 'It says nothing.', edited: true });
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
  const previous = [chunk('One two.'), chunk('Three four.', false), chunk('Five six.')];
  expect(texts(cut(['One two. Three', 'Three four. Five', 'Five six.'], previous))).toEqual([
    'One two.',
    'Three',
    'Three four.',
    'Five',
    'Five six.',
  ]);
});

it('of what a chunk repeats of the one before, no piece is left', () => {
  const previous = [chunk('One two.'), chunk('Three four.', false), chunk('Five six.')];
  expect(texts(cut(['One two. Three four.', 'two. Three four. Five six.'], previous))).toEqual([
    'One two.',
    'Three four.',
    'Five six.',
  ]);
});

it('a chunk that was there before stays whole, though its disabled neighbour repeats a part of it', () => {
  const previous = [chunk('One two. Three'), chunk('Three four.', false), chunk('Five six.')];
  expect(texts(cut(['One two. Three', 'Three four.', 'Five six.'], previous))).toEqual([
    'One two. Three',
    'Three four.',
    'Five six.',
  ]);
  expect(texts(cut([TEXT], previous))).toEqual(['One two. Three', 'four.', 'Five six.']);
});

it('nothing is cut where no chunk was edited or disabled, or the text has none of them any more', () => {
  expect(texts(cut([TEXT], [chunk('One two.'), chunk('Three four.')]))).toEqual([TEXT]);
  const other = TEXT.replace('four', 'for');
  expect(texts(cut([other], [chunk('Three four.', false)], other))).toEqual([other]);
});

it.each([
  ['larger chunks', [TEXT]],
  ['smaller ones', ['One two.', 'Three', 'four.', 'Five six.']],
  ['chunks that reach into it', ['One two. Three', 'four. Five six.']],
  ['chunks that overlap', ['One two. Three four.', 'two. Three four. Five', 'four. Five six.']],
])('the text of an edited chunk is one chunk in %s', (_, now) => {
  const found = cut(now, [chunk('One two.'), rewritten('Three four.'), chunk('Five six.')]);
  expect(texts(found)).toEqual(
    now.length === 3 ? ['One two.', 'Three four.', 'Five', 'Five six.'] : ['One two.', 'Three four.', 'Five six.'],
  );
  expect(found.map(({ start, end }) => TEXT.slice(start, end))).toEqual(texts(found));
  expect(found.map(({ ordinal }) => ordinal)).toEqual(found.map((_one, index) => index));
  expect(idsOf(found).size).toBe(found.length);
});

it('edited chunks that overlap are each there again', () => {
  const previous = [rewritten('One two. Three'), { ...rewritten('Three four.'), chunkId: 'b' }, chunk('Five six.')];
  expect(texts(cut([TEXT], previous))).toEqual(['One two. Three', 'Three four.', 'Five six.']);
});

it('what was edited or disabled is cut out where it stands in other content, its neighbours with it', () => {
  const previous = [rewritten('One two.'), chunk('Three four.', false), chunk('Five six.')];
  const text = `Zero. Three four. And\nOne two.\nThree four more.`;
  expect(texts(cut([text], previous, text))).toEqual(['Zero.', 'Three four.', 'And', 'One two.', 'Three four more.']);
});

it('a short text that stands within a sentence of other content is not what was edited', () => {
  const text = 'As One two. Three four. or so.';
  expect(texts(cut([text], [rewritten('Three')], text))).toEqual([text]);
});

it('a chunk that was there before stays whole also where other content has it elsewhere, with its disabled neighbour', () => {
  const previous = [chunk('One two. Three'), chunk('Three four.', false), chunk('Five six.')];
  const now = ['Zero zero.', 'One two. Three', 'Three four.', 'Five six.'];
  expect(texts(cut(now, previous, `Zero zero.\n${TEXT}`))).toEqual(now);
});

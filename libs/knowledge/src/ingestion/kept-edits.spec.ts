import type { StoredPassage } from '@app/search-index';
import { cutAtEdits } from './cut-at-edits';
import { withEdits } from './kept-edits';

const TEXT = 'One two. Three four. Five six.';
/** A chunk of the text. */
const chunk = (chunkId: string, text: string, more: Partial<StoredPassage> = {}): StoredPassage => {
  const start = TEXT.indexOf(text);
  return { chunkId, ordinal: 0, text, headings: [], start, end: start + text.length, enabled: true, ...more };
};
const edited = (chunkId: string, text: string, more: Partial<StoredPassage>): StoredPassage => ({
  ...chunk(chunkId, text),
  ...more,
});

it('a chunk that the content still has is as it was edited, and the others are counted', () => {
  const passages = [
    edited('a', 'One two.', { text: 'Edited.', edited: true, vector: [1] }),
    edited('b', 'Three four.', { enabled: false }),
    chunk('c', 'Five six.'),
    chunk('gone', 'Seven.', { text: 'Lost.', edited: true }),
  ];
  const now = [chunk('a', 'One two.'), chunk('b', 'Three four.'), chunk('c', 'Five six.'), chunk('d', 'Eight.')];
  expect(withEdits(now, { passages, edited: new Set(['a', 'b', 'gone']), text: TEXT }, TEXT)).toEqual({
    passages: [{ ...now[0], text: 'Edited.', edited: true }, { ...now[1], enabled: false }, now[2], now[3]],
    kept: ['a', 'b'],
    dropped: 1,
  });
});

it('a chunk that stands elsewhere now, word for word, is as it was edited; one of equal words is not', () => {
  const passages = [
    edited('a', 'One two.', { text: 'Edited.', edited: true }),
    edited('b', 'Three four.', { enabled: false }),
  ];
  const text = 'Three four. One two. One two.';
  const at = (chunkId: string, of: string, start: number) => ({ ...chunk(chunkId, of), start, end: start + of.length });
  const now = [at('x', 'Three four.', 0), at('y', 'One two.', 12), at('z', 'One two.', 21)];
  expect(withEdits(now, { passages, edited: new Set(['a', 'b']), text: TEXT }, text)).toEqual({
    passages: [{ ...now[0], enabled: false }, { ...now[1], text: 'Edited.', edited: true }, now[2]],
    kept: ['x', 'y'],
    dropped: 0,
  });
});

it('what a disabled chunk is cut into stays disabled, and nothing beside it', () => {
  const passages = [
    edited('a', 'One two. Three four.', { enabled: false }),
    edited('b', 'Five six.', { text: 'Edited.', edited: true }),
  ];
  const now = ['One two.', 'Three', 'four. Five', 'six.'].map((text) => chunk(text, text));
  expect(withEdits(now, { passages, edited: new Set(['a', 'b']), text: TEXT }, TEXT)).toEqual({
    passages: [{ ...now[0], enabled: false }, { ...now[1], enabled: false }, now[2], now[3]],
    kept: ['One two.', 'Three'],
    dropped: 1,
  });
});

it('an edited chunk that is disabled stays both, and is not shown as it was in pieces', () => {
  const passages = [edited('a', 'One two. Three four.', { text: 'Edited.', edited: true, enabled: false })];
  const previous = { passages, edited: new Set(['a']), text: TEXT };
  const whole = cutAtEdits(
    '01900000-0000-7000-8000-000000000001',
    ['One two.', 'Three four. Five six.'].map((text) => chunk(text, text)),
    previous,
    TEXT,
  );
  expect(withEdits(whole, previous, TEXT)).toMatchObject({
    passages: [
      { text: 'Edited.', edited: true, enabled: false },
      { text: 'Five six.', enabled: true },
    ],
    dropped: 0,
  });
});

it('of equal texts elsewhere the one beside the edit before it is as it was edited', () => {
  const passages = [
    edited('a', 'One two.', { text: 'Edited.', edited: true }),
    edited('b', 'Three four.', { enabled: false }),
  ];
  const text = 'Three four. Zero. One two. Three four.';
  const at = (of: string, start: number) => ({ ...chunk(`${of}${start}`, of), start, end: start + of.length });
  const now = [at('Three four.', 0), at('Zero.', 12), at('One two.', 18), at('Three four.', 27)];
  expect(withEdits(now, { passages, edited: new Set(['a', 'b']), text: TEXT }, text)).toMatchObject({
    passages: [{ enabled: true }, {}, { text: 'Edited.' }, { enabled: false }],
    dropped: 0,
  });
});

it('a short text within a sentence is as it was edited where a chunk is nothing else', () => {
  const passages = [edited('a', 'Three', { text: 'Edited.', edited: true })];
  const text = 'As Three or so.';
  const now = ['As', 'Three', 'or so.'].map((of) => {
    const start = text.indexOf(of);
    return { ...chunk(of, of), start, end: start + of.length };
  });
  expect(withEdits(now, { passages, edited: new Set(['a']), text: TEXT }, text).kept).toEqual(['Three']);
});

it('each of two chunks of equal text has its own edit, also where one of them moved', () => {
  const previous = 'Same. Same.';
  const at = (chunkId: string, start: number, more: Partial<StoredPassage> = {}): StoredPassage => ({
    ...chunk(chunkId, 'Same.'),
    start,
    end: start + 5,
    ...more,
  });
  const passages = [at('a', 0, { text: 'First.', edited: true }), at('b', 6, { text: 'Second.', edited: true })];
  const now = [at('x', 0), at('y', 9)];
  expect(withEdits(now, { passages, edited: new Set(['a', 'b']), text: previous }, 'Same.\nXX\nSame.')).toMatchObject({
    passages: [{ text: 'First.' }, { text: 'Second.' }],
    dropped: 0,
  });
});

it('a chunk that was shown within a disabled one is still shown, and what is left of that is not', () => {
  const passages = [chunk('t', 'Three'), edited('b', 'Three four.', { enabled: false })];
  const now = ['Three', 'four.'].map((text) => chunk(text, text));
  expect(withEdits(now, { passages, edited: new Set(['b']), text: TEXT }, TEXT)).toMatchObject({
    passages: [{ enabled: true }, { enabled: false }],
    kept: ['four.'],
  });
});

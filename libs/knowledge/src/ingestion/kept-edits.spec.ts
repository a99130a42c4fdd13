import type { StoredPassage } from '@app/search-index';
import { withEdits } from './kept-edits';

const chunk = (chunkId: string, more: Partial<StoredPassage> = {}): StoredPassage => ({
  chunkId,
  ordinal: 0,
  text: `Text of ${chunkId}.`,
  headings: [],
  start: 0,
  end: 10,
  enabled: true,
  ...more,
});

it('a chunk that the content still has is as it was edited, and the others are counted', () => {
  const before = [
    chunk('a', { text: 'Edited.', edited: true, vector: [1] }),
    chunk('b', { enabled: false }),
    chunk('c'),
    chunk('gone', { text: 'Lost.', edited: true }),
  ];
  expect(withEdits([chunk('a'), chunk('b'), chunk('c'), chunk('d')], before, new Set(['a', 'b', 'gone']))).toEqual({
    passages: [chunk('a', { text: 'Edited.', edited: true }), chunk('b', { enabled: false }), chunk('c'), chunk('d')],
    kept: ['a', 'b'],
    dropped: 1,
  });
});

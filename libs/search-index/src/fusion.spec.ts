import { fused } from './fusion';

describe('words and vectors together', () => {
  // One passage is the best by its words, the other by its vector; that has two fifths of the words' score.
  const byText = [
    { id: 'words', chunkId: 'a', value: -1 },
    { id: 'vector', chunkId: 'b', value: -0.4 },
  ];
  const byVector = [
    { id: 'vector', chunkId: 'b', value: 0.1 },
    { id: 'words', chunkId: 'a', value: 0.9 },
  ];
  const first = (vectorWeight?: number) =>
    fused(byText, byVector, { mode: 'hybrid', ...(vectorWeight === undefined ? {} : { vectorWeight }) })[0]?.id;

  it('count alike where the model says nothing', () => {
    expect([first(), first(1)]).toEqual(['vector', 'vector']);
  });

  it('count as the model says', () => {
    expect(first(0.5)).toBe('words');
  });
});

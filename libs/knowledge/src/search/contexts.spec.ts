import { contextsOf, type RankedHit, TOKENS_PER_PLACE } from './contexts';

/** A passage of ten characters at its place in a document. */
const hit = (documentId: string, ordinal: number, score: number, given: Partial<RankedHit> = {}): RankedHit => ({
  documentId,
  documentName: documentId,
  documentRevision: 1,
  scope: 'g',
  chunkId: `${documentId}${ordinal}`,
  ordinal,
  text: `${documentId}${ordinal}`.padEnd(10, '.'),
  headings: [],
  start: ordinal * 12,
  end: ordinal * 12 + 10,
  score,
  textRank: 1,
  vectorRank: null,
  ...given,
});
const chosen = (hits: readonly RankedHit[], places: number) =>
  contextsOf(hits, places).map(({ chunks }) => chunks.map(({ chunkId }) => chunkId).join('+'));

describe('contexts', () => {
  it('are the best hits, as many as there are places', () => {
    const hits = [hit('a', 0, 0.9), hit('b', 0, 0.8), hit('c', 0, 0.7)];
    expect([chosen(hits, 2), chosen(hits, 8), chosen([], 8)]).toEqual([['a0', 'b0'], ['a0', 'b0', 'c0'], []]);
  });

  it('leave places to other documents that match comparably', () => {
    const one = [0, 2, 4, 6].map((ordinal) => hit('a', ordinal, 1 - ordinal / 100));
    expect(chosen([...one, hit('b', 0, 0.6), hit('c', 0, 0.5)], 4)).toEqual(['a0', 'a2', 'b0', 'c0']);
  });

  it('leave no place to others that match much worse, or where there are none', () => {
    const one = [0, 2, 4, 6].map((ordinal) => hit('a', ordinal, 1 - ordinal / 100));
    expect(chosen([...one, hit('b', 0, 0.3)], 4)).toEqual(['a0', 'a2', 'a4', 'a6']);
    expect(chosen(one, 4)).toEqual(['a0', 'a2', 'a4', 'a6']);
  });

  it('join neighbours, which take one place', () => {
    const hits = [hit('a', 2, 0.9), hit('a', 1, 0.8), hit('b', 0, 0.7), hit('a', 3, 0.6), hit('c', 0, 0.5)];
    const [joined] = contextsOf(hits, 3);
    expect(chosen(hits, 3)).toEqual(['a1+a2+a3', 'b0', 'c0']);
    expect(joined).toMatchObject({
      chunkId: 'a2',
      score: 0.9,
      text: 'a1........\na2........\na3........',
      start: 12,
      end: 46,
    });
  });

  it('join what overlaps without saying it twice', () => {
    const hits = [
      hit('a', 0, 0.9, { text: 'one two three', start: 0, end: 13 }),
      hit('a', 1, 0.8, { text: 'three four', start: 8, end: 18 }),
    ];
    expect(contextsOf(hits, 1)).toMatchObject([{ text: 'one two three four', start: 0, end: 18 }]);
  });

  it('join at most three, nothing under another heading or page, and nothing of another document', () => {
    const run = [0, 1, 2, 3].map((ordinal) => hit('a', ordinal, 1 - ordinal / 10));
    expect(chosen(run, 8)).toEqual(['a0+a1+a2', 'a3']);
    expect(chosen([hit('a', 0, 1), hit('a', 1, 0.9, { headings: ['B'] })], 8)).toEqual(['a0', 'a1']);
    expect(chosen([hit('a', 0, 1, { page: 1 }), hit('a', 1, 0.9, { page: 2 })], 8)).toEqual(['a0', 'a1']);
    expect(chosen([hit('a', 0, 1), hit('b', 1, 0.9)], 8)).toEqual(['a0', 'b1']);
  });

  it('keep to their budget of tokens, passing over what is too long, but give one context always', () => {
    const long = (documentId: string, score: number, places: number) =>
      hit(documentId, 0, score, { text: 'word '.repeat(places * TOKENS_PER_PLACE) });
    expect(chosen([long('a', 1, 9)], 1)).toEqual(['a0']);
    expect(chosen([hit('a', 0, 1), long('b', 0.9, 9), hit('c', 0, 0.8)], 3)).toEqual(['a0', 'c0']);
  });
});

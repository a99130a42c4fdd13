import fc from 'fast-check';
import { CitationReader } from './citations';

/** Reads an answer in pieces of a length. */
const read = (answer: string, sources: number, size = answer.length || 1) => {
  const reader = new CitationReader(sources);
  let text = '';
  for (let from = 0; from < answer.length; from += size) text += reader.push(answer.slice(from, from + size));
  text += reader.end();
  return {
    text,
    sources: reader.citations.map(({ number, source }) => `${number}=${source}`),
    at: reader.citations.map(({ at }) => at),
  };
};

describe('citations', () => {
  it('are numbered in order of first use', () =>
    expect(read('B [3]. A [1]. Again [3].', 3)).toEqual({
      text: 'B [1]. A [2]. Again [1].',
      sources: ['1=3', '2=1', '1=3'],
      at: [2, 9, 20],
    }));
  it('may be several in one mark', () =>
    expect(read('Both [2, 1].', 2)).toMatchObject({ text: 'Both [1][2].', sources: ['1=2', '2=1'] }));
  it('that name no source are dropped', () =>
    expect(read('Odd [7]. Even [1, 9].', 2)).toMatchObject({ text: 'Odd. Even [1].', sources: ['1=1'] }));
  it('are not what stands in code, or is no mark', () => {
    const answer = 'Use `list[1]` and\n```\na[2]\n```\n or [x](url) or [ ] or [1';
    expect(read(answer, 3)).toMatchObject({ text: answer, sources: [] });
  });
  it('do not exist without sources', () =>
    expect(read('As in [1].', 0)).toMatchObject({ text: 'As in [1].', sources: [] }));

  it('that name no source take the space before them along, also where that came earlier', () =>
    expect(read('Odd [7].', 2, 1).text).toBe('Odd.'));

  it('are read the same however the answer is cut', () => {
    const piece = fc.constantFrom('word ', '[', ']', '1', '12', ', ', '[2]', '`', '[1, 3]', '. ', '[x]', '\n');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 1, max: 7 }), (pieces, size) =>
        expect(read(pieces.join(''), 3, size)).toEqual(read(pieces.join(''), 3)),
      ),
      { numRuns: 5_000 },
    );
  });
});

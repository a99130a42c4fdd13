import { endianness } from 'node:os';
import { vectorsIn } from '@app/models';
import { embeddingObjects } from './embedding-vectors';

/** What the reader says of a vector beside another one. */
const read = (embedding: unknown, other = embedding) => {
  try {
    return vectorsIn(
      {
        data: [
          { index: 1, embedding: other },
          { index: 0, embedding },
        ],
      },
      2,
    )[0];
  } catch (error) {
    return (error as { kind?: string }).kind;
  }
};
const base64 = (...numbers: number[]): string => {
  const bytes = Buffer.from(Float32Array.from(numbers).buffer);
  return (endianness() === 'LE' ? bytes : bytes.swap32()).toString('base64');
};

describe('the vectors of a provider', () => {
  it('are numbers, or base64 of them', () => {
    const [numbers, text] = [[0.5, -2, 0], base64(0.5, -2, 0)];
    for (const given of [numbers, text]) {
      const [vector] = [read(given)].filter((one) => typeof one !== 'string' && one !== undefined);
      expect(embeddingObjects([vector as number[]], 'base64', undefined)[0]?.['embedding']).toBe(text);
      expect(embeddingObjects([vector as number[]], 'float', undefined)[0]?.['embedding']).toEqual(numbers);
    }
  });

  it.each<[unknown]>([
    [[1, 'x', null]],
    [[1, null]],
    [[1, '2']],
    [[1, true]],
    [[1, [2]]],
    [[1, {}]],
    [[null]],
    [[]],
    [JSON.parse('[1,1e999]')],
    [JSON.parse('[1,-1e39]')],
    [base64(1, NaN)],
    [base64(1, -Infinity)],
    [''],
    ['AAAA'],
    ['no vector'],
    [null],
    [undefined],
    [1],
    [{ 0: 1, length: 1 }],
  ])('are broken where one is %j', (embedding) => expect(read(embedding)).toBe('broken'));

  it('are broken where they are not all as long', () => {
    for (const other of [[1], [1, 2, 3], base64(1)])
      expect([read([1, 2], other), read(base64(1, 2), other)]).toEqual(['broken', 'broken']);
  });

  it('may be as large as the largest number of four bytes', () => {
    const largest = [3.4028234663852886e38, -3.4028234663852886e38];
    expect(read(largest)).toEqual(largest);
  });
});

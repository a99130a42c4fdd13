import { IdRanges } from './id-ranges';

it('ranges have their ids, and no others', () => {
  const ranges = new IdRanges([
    { first: 2 ** 40 + 5, count: 2 },
    { first: 0, count: 0 },
    { first: 3, count: 2 },
    { first: 5, count: 1 },
  ]);
  const asked = [0, 2, 3, 4, 5, 6, 2 ** 40 + 4, 2 ** 40 + 5, 2 ** 40 + 6, 2 ** 40 + 7];
  expect(asked.filter(ranges.ascending())).toEqual([3, 4, 5, 2 ** 40 + 5, 2 ** 40 + 6]);
});

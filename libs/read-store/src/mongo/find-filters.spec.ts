import type { IndexSpec } from '../read-store';
import { countQuery, pageQueries } from './find-filters';

const indexes: readonly IndexSpec[] = [
  { name: 'by-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] },
  { name: 'by-rank', fields: [{ field: 'rank' }] },
];
const filters = (options: Parameters<typeof pageQueries>[1]) =>
  pageQueries(indexes, options).map(({ filter }) => JSON.stringify(filter));

describe('pageQueries', () => {
  it('reads one range in the order of one index, ties by key', () => {
    expect(
      pageQueries(indexes, { where: { spaceId: 's' }, orderBy: [{ field: 'createdAt', order: 'desc' }], limit: 9 }),
    ).toEqual([{ filter: { $and: [{ spaceId: { $eq: 's' } }] }, sort: { createdAt: -1, _id: -1 }, hint: 'by-space' }]);
  });

  it('goes on after a row: its ties, then what is beyond it of each type', () => {
    expect(filters({ orderBy: [{ field: 'rank', order: 'asc' }], after: { values: [7], key: 'k' }, limit: 9 })).toEqual(
      [
        '{"$and":[{"rank":{"$eq":7}},{"_id":{"$gt":"k"}}]}',
        '{"$and":[{"rank":{"$gt":7}}]}',
        '{"$and":[{"rank":{"$type":["string","object","bool"]}}]}',
      ],
    );
    expect(
      filters({ orderBy: [{ field: 'rank', order: 'desc' }], after: { values: [null], key: 'k' }, limit: 9 }),
    ).toEqual(['{"$and":[{"rank":{"$eq":null}},{"_id":{"$lt":"k"}}]}']);
  });

  it('takes nothing that is given for an operator', () => {
    // What only a caller that the compiler has not checked could give.
    const given = { $gt: '' } as unknown as string;
    expect(filters({ where: { spaceId: { in: [given] } }, limit: 9 })).toEqual([
      '{"$and":[{"spaceId":{"$in":[{"json":"{\\"$gt\\":\\"\\"}"}]}}]}',
    ]);
    expect(
      filters({ orderBy: [{ field: 'rank', order: 'asc' }], after: { values: [given], key: 'k' }, limit: 9 })[1],
    ).toBe('{"$and":[{"rank":{"$gt":{"json":"{\\"$gt\\":\\"\\"}"}}}]}');
    expect(() => countQuery([{ name: 'x', fields: [{ field: '$where' }] }], { $where: 'true' })).toThrow(
      'no field may be called',
    );
  });
});

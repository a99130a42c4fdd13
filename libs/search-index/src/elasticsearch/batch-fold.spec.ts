import type { SearchOperation } from '../search-index';
import { passage, putDocument } from '../test-index.contract';
import { BatchFold, type DocumentChange } from './batch-fold';
import type { DocumentRecord } from './records';

const at = (position: number): string => String(position).padStart(6, '0');
const remove = (documentId: string): SearchOperation => ({ op: 'removeDocument', documentId });

/** Folds operations, each at its position, over what is stored. */
const folded = (
  operations: readonly (readonly [position: number, operation: SearchOperation])[],
  stored: readonly DocumentRecord[] = [],
  removedScopes: ReadonlyMap<string, string> = new Map(),
): readonly DocumentChange[] => {
  const fold = new BatchFold(new Map(stored.map((record) => [record.documentId, record])), removedScopes);
  fold.apply(operations.map(([position, operation]) => ({ position: at(position), operations: [operation] })));
  return fold.changes;
};

const storedAfter = (...operations: Parameters<typeof folded>[0]): readonly DocumentRecord[] =>
  folded(operations).map(({ record }) => record);

const three = [passage('c1', 'alpha'), passage('c2', 'beta'), passage('c3', 'gamma')];

describe('a batch', () => {
  it('writes each document once, as it is in the end', () => {
    const [change, ...others] = folded([
      [1, putDocument('d1', three)],
      [2, { op: 'patchDocument', documentId: 'd1', fields: { name: 'Renamed', revision: 4 } }],
      [3, putDocument('d2', three)],
      [4, remove('d2')],
    ]);
    expect(change).toMatchObject({
      record: {
        at: at(2),
        removed: false,
        document: { present: { name: 'Renamed', revision: 4, put: at(1), passages: 3, ownIds: true } },
      },
      passages: [{ chunkId: 'c1' }, { chunkId: 'c2' }, { chunkId: 'c3' }],
    });
    expect(others).toEqual([
      {
        record: { kind: 'document', documentId: 'd2', at: at(4), removed: true, document: {} },
        passages: 'none',
      },
    ]);
  });

  it('passes over what the index has gone beyond, and does again what it stands at', () => {
    const stored = storedAfter([5, putDocument('d1', three)]);
    expect(
      folded(
        [
          [4, putDocument('d1', [])],
          [4, remove('d1')],
          [4, { op: 'patchDocument', documentId: 'd1', fields: { name: 'Old' } }],
        ],
        stored,
      ),
    ).toEqual([]);
    expect(folded([[5, putDocument('d1', three)]], stored)).toMatchObject([{ passages: [{}, {}, {}] }]);
    const patched = storedAfter(
      [5, putDocument('d1', three)],
      [6, { op: 'patchDocument', documentId: 'd1', fields: { name: 'New' } }],
    );
    expect(folded([[6, { op: 'patchDocument', documentId: 'd1', fields: { name: 'New' } }]], patched)).toMatchObject([
      { passages: 'stored' },
    ]);
    const removed = storedAfter([5, putDocument('d1', three)], [6, remove('d1')]);
    expect([folded([[6, remove('d1')]], removed).length, folded([[7, remove('d1')]], removed).length]).toEqual([1, 0]);
  });

  it('takes the content away when the same event has none any more', () => {
    expect(folded([[5, remove('d1')]], storedAfter([5, putDocument('d1', three)]))).toMatchObject([
      { record: { removed: true, document: {} } },
    ]);
  });

  it('writes passages again only where what they carry changes', () => {
    const stored = storedAfter([1, putDocument('d1', three, { tagIds: ['t2', 't1'] })]);
    const passages = (fields: object) =>
      folded([[2, { op: 'patchDocument', documentId: 'd1', fields }]], stored).map((change) => change.passages);
    expect([
      passages({ revision: 9 }),
      passages({ tagIds: ['t1', 't2', 't1'] }),
      passages({ tagIds: ['t1'] }),
      passages({ name: 'x' }),
    ]).toEqual([['none'], ['none'], ['stored'], ['stored']]);
  });

  it('leaves unknown and removed documents as they are', () => {
    expect(
      folded([
        [1, remove('d1')],
        [2, { op: 'patchDocument', documentId: 'd1', fields: { name: 'x' } }],
      ]),
    ).toEqual([]);
    expect(
      folded(
        [[8, { op: 'patchDocument', documentId: 'd1', fields: { name: 'x' } }]],
        storedAfter([5, putDocument('d1', three)], [6, remove('d1')]),
      ),
    ).toEqual([]);
  });

  it('removes what stands in a scope, and not what came into it later', () => {
    const stored = [
      ...storedAfter([1, putDocument('d1', three)]),
      ...storedAfter([9, putDocument('d2', three)]),
      ...storedAfter([1, putDocument('d3', three, { scope: 'g' })]),
    ];
    const changes = folded(
      [
        [2, putDocument('d4', three)],
        [3, putDocument('d3', three)],
        [5, { op: 'removeScope', scope: 's:1' }],
        [6, putDocument('d5', three)],
      ],
      stored,
    );
    expect(changes.map(({ record }) => [record.documentId, record.removed, record.at])).toEqual([
      ['d4', true, at(5)],
      ['d3', true, at(5)],
      ['d1', true, at(5)],
      ['d5', false, at(6)],
    ]);
  });

  it('removes with its scope a document that was patched since', () => {
    const stored = storedAfter(
      [1, putDocument('d1', three)],
      [9, { op: 'patchDocument', documentId: 'd1', fields: { name: 'x' } }],
    );
    expect(folded([[5, { op: 'removeScope', scope: 's:1' }]], stored)).toMatchObject([
      { record: { removed: true, at: at(9) } },
    ]);
  });

  it('puts nothing into a scope that was removed after it', () => {
    const removed = new Map([['s:1', at(5)]]);
    expect(
      folded(
        [
          [4, putDocument('d1', three)],
          [6, putDocument('d2', three)],
        ],
        [],
        removed,
      ).map(({ record }) => record.removed),
    ).toEqual([true, false]);
  });

  it.each([[[]], [Array(4097).fill(0)], [[Number.NaN]]])(
    'with a vector that the server rejects is rejected as a whole',
    (vector) => {
      expect(() => folded([[1, putDocument('d1', [passage('c1', 'alpha', { vector })])]])).toThrow(RangeError);
    },
  );
});

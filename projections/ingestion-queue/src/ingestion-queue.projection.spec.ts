import type { FindOptions, StoredRow } from '@app/read-store';
import { WaitingBySpace, type WaitingRow } from './ingestion-queue.projection';

const row = (spaceId: string, index: number): WaitingRow => ({
  documentId: `${spaceId}-${index}`,
  spaceId,
  userId: 'u1',
  notBefore: String(index).padStart(6, '0'),
  open: true,
});
const rowsOf = (spaceId: string, count: number): readonly WaitingRow[] =>
  Array.from({ length: count }, (_, index) => row(spaceId, index));

/** Rows in the order of the index, in pages. */
const storeOf = (rows: readonly WaitingRow[]) => {
  const asked: FindOptions[] = [];
  const place = ({ spaceId, notBefore }: WaitingRow): string => `${spaceId}\0${notBefore}`;
  const find = async (_: string, options: FindOptions): Promise<readonly StoredRow[]> => {
    asked.push(options);
    const after = options.after?.values.join('\0');
    return rows
      .filter((one) => after === undefined || place(one) > after)
      .toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
      .slice(0, options.limit)
      .map((one) => ({ key: one.documentId, position: '', row: one, size: 1 }));
  };
  return { asked, waiting: new WaitingBySpace({ find }) };
};
const bySpace = (documents: readonly { readonly spaceId: string }[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(documents, ({ spaceId }) => spaceId)).map(([spaceId, all = []]) => [
      spaceId,
      all.length,
    ]),
  );

describe('waiting documents', () => {
  it('are those of every Space, however many one of them has', async () => {
    const { asked, waiting } = storeOf([
      ...rowsOf('a', 1_000),
      ...rowsOf('b', 1),
      ...rowsOf('c', 150),
      ...rowsOf('', 2),
    ]);
    const found = await waiting.read();
    expect([bySpace(found), asked.length]).toEqual([{ '': 2, a: 98, b: 1, c: 99 }, 3]);
    expect(
      found
        .filter(({ spaceId }) => spaceId === 'a')
        .map(({ documentId }) => documentId)
        .slice(0, 2),
    ).toEqual(['a-0', 'a-1']);
  });

  it('of more Spaces than one sweep looks at are found by the next', async () => {
    const spaces = Array.from({ length: 80 }, (_, index) => `s${String(index).padStart(2, '0')}`);
    const { waiting } = storeOf(spaces.flatMap((spaceId) => rowsOf(spaceId, 100)));
    const first = Object.keys(bySpace(await waiting.read()));
    const second = Object.keys(bySpace(await waiting.read()));
    expect(first).toHaveLength(50);
    expect([...first, ...second].toSorted()).toEqual(spaces);
  });

  it('are of no known user where an earlier build answers', async () => {
    const { userId: _, ...former } = row('a', 1);
    expect(await storeOf([former as WaitingRow]).waiting.read()).toEqual([
      { documentId: 'a-1', spaceId: 'a', userId: '', notBefore: '000001' },
    ]);
  });

  it('are none where nothing waits', async () => expect(await storeOf([]).waiting.read()).toEqual([]));
});

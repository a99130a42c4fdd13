import type { ReadStore } from '@app/read-store';
import { SameNameHandler, SameName } from './same-name';
import { servedRows } from './served-rows';

const failing = (error: Error): Pick<ReadStore, 'find'> => ({ find: () => Promise.reject(error) });

describe('what an index serves', () => {
  it('is nothing where an earlier build lacks the index, and fails where the store does', async () => {
    expect(await servedRows(failing(new RangeError('no declared index serves this')), { limit: 1 })).toEqual([]);
    await expect(servedRows(failing(new Error('away')), { limit: 1 })).rejects.toThrow('away');
  });

  it('names the other documents of a name, none where it is erased', async () => {
    const rows = ['a', 'b'].map((key) => ({ key, position: '', row: {}, size: 1 }));
    const handler = new SameNameHandler({ find: async () => rows });
    const sameName = (name: string | { readonly erased: true }) =>
      handler.execute(new SameName({ id: 'a', name, place: 'g' }));
    expect([await sameName('x'), await sameName({ erased: true })]).toEqual([['b'], []]);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStoreContract } from '../read-store.contract';
import { openSqliteReadStore } from './sqlite-read-store';

const openStore = (inThread: boolean) => async () => {
  const folder = mkdtempSync(join(tmpdir(), 'read-store-'));
  let store = await openSqliteReadStore({ folder, inThread });
  return {
    store,
    reopen: async () => {
      await store.close();
      return (store = await openSqliteReadStore({ folder, inThread }));
    },
    destroy: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
};

readStoreContract('SQLite with a writing thread', openStore(false));
readStoreContract('SQLite in one thread', openStore(true));

test('a page is kept that turns out short, however many rows were asked for, until something changes', async () => {
  const { store, destroy } = await openStore(false)();
  try {
    await store.prepare({ name: 'view', version: 1, indexes: [] });
    await store.swap('view', undefined, 1);
    const put = (position: string, from: string | null) =>
      store.commit({
        view: 'view',
        version: 1,
        from,
        to: { position, handled: Number(position) },
        fence: 1,
        changes: [{ position, operations: [{ op: 'put', key: position, row: { n: 1 } }] }],
      });
    const page = () => store.find('view', { limit: 1_000 });
    await put('1', null);
    const first = await page();
    expect(await page()).toBe(first);
    await put('2', '1');
    expect((await page()).map(({ key }) => key)).toEqual(['1', '2']);
  } finally {
    await destroy();
  }
});

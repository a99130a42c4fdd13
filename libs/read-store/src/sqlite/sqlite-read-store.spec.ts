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

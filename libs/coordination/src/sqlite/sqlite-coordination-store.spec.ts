import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coordinationStoreContract } from '../coordination-store.contract';
import { openSqliteCoordinationStore } from './sqlite-coordination-store';

coordinationStoreContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coordination-store-'));
  const store = await openSqliteCoordinationStore({ folder });
  return {
    store,
    beside: () => openSqliteCoordinationStore({ folder }),
    destroy: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});

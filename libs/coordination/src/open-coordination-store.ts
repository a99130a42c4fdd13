import { join } from 'node:path';
import { type Config, type RetryOptions, retry } from '@app/kernel';
import type { CoordinationStore } from './coordination-store';
import { openMongoCoordinationStore } from './mongo/mongo-coordination-store';
import { openSqliteCoordinationStore } from './sqlite/sqlite-coordination-store';

/** Opens the store of what processes agree on, which stands where the views do: on the server that `MONGODB_URL` names, which is waited for, else under `DATA_DIR`. */
export const openCoordinationStore = (
  { MONGODB_URL: url, DATA_DIR }: Pick<Config, 'MONGODB_URL' | 'DATA_DIR'>,
  options: RetryOptions = {},
): Promise<CoordinationStore> =>
  url === undefined
    ? openSqliteCoordinationStore({ folder: join(DATA_DIR, 'views') })
    : retry(() => openMongoCoordinationStore({ url }), options);

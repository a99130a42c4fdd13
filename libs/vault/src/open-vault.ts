import { join } from 'node:path';
import { type Clock, type Config, type RetryOptions, retry } from '@app/kernel';
import { openMongoVault } from './mongo/mongo-vault';
import { openSqliteVault } from './sqlite/sqlite-vault';
import type { Vault } from './vault';

/** Opens the vault: on the server that `MONGODB_URL` names, which is waited for, else under `DATA_DIR`. */
export const openVault = (
  { MONGODB_URL: url, DATA_DIR }: Pick<Config, 'MONGODB_URL' | 'DATA_DIR'>,
  wrappingKey: string,
  clock: Clock,
  options: RetryOptions = {},
): Promise<Vault> =>
  url === undefined
    ? openSqliteVault({ folder: join(DATA_DIR, 'vault'), wrappingKey, clock })
    : retry(() => openMongoVault({ url, wrappingKey, clock }), options);

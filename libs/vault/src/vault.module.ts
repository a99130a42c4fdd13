import { join } from 'node:path';
import {
  type Clock,
  CLOCK,
  CONFIG,
  type Config,
  DATA_FOLDER,
  LOGGER,
  Resources,
  retry,
  type RetryOptions,
  type Warning,
} from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { VAULT, type Vault, VAULT_KEY } from './vault';
import { openMongoVault } from './mongo/mongo-vault';
import { openSqliteVault } from './sqlite/sqlite-vault';

/** Provides `VAULT` everywhere: the vault that `CONFIG` names, opened with `VAULT_KEY`. */
@Module({})
export class VaultModule {
  static forRoot(): DynamicModule {
    return {
      module: VaultModule,
      global: true,
      providers: [
        {
          provide: VAULT,
          inject: [CONFIG, DATA_FOLDER, VAULT_KEY, CLOCK, LOGGER, Resources],
          useFactory: (
            config: Config,
            DATA_DIR: string,
            wrappingKey: string,
            clock: Clock,
            logger: Warning,
            resources: Resources,
          ) =>
            resources.open(() =>
              openVault({ ...config, DATA_DIR }, wrappingKey, clock, { warn: (sentence) => logger.warn(sentence) }),
            ),
        },
      ],
      exports: [VAULT],
    };
  }
}

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

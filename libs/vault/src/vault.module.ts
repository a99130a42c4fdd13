import { type Clock, CLOCK, CONFIG, type Config, DATA_FOLDER, LOGGER, Resources, type Warning } from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { openVault } from './open-vault';
import { VAULT, VAULT_KEY } from './vault';

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

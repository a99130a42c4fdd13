import { CONFIG, type Config, DATA_FOLDER, type Keyring, LOGGER, type Warning } from '@app/kernel';
import { VAULT } from '@app/vault';
import { type DynamicModule, Module } from '@nestjs/common';
import { BLOBS } from './blobs';
import { openBlobs } from './open-blobs';

/** Provides `BLOBS` everywhere: the bodies where `CONFIG` says that they stand, encrypted under the keys of `VAULT`. */
@Module({})
export class BlobsModule {
  static forRoot(): DynamicModule {
    return {
      module: BlobsModule,
      global: true,
      providers: [
        {
          provide: BLOBS,
          inject: [CONFIG, DATA_FOLDER, VAULT, LOGGER],
          useFactory: (config: Config, DATA_DIR: string, vault: Keyring, logger: Warning) =>
            openBlobs({ ...config, DATA_DIR }, vault, { warn: (sentence) => logger.warn(sentence) }),
        },
      ],
      exports: [BLOBS],
    };
  }
}

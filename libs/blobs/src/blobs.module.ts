import { join } from 'node:path';
import {
  Aggregates,
  CONFIG,
  type Config,
  DATA_FOLDER,
  type Keyring,
  LOGGER,
  retry,
  type RetryOptions,
  type Warning,
} from '@app/kernel';
import { VAULT } from '@app/vault';
import { type DynamicModule, Module } from '@nestjs/common';
import { BLOBS, type Blobs } from './blobs';
import { declaredBodies } from './declared-bodies';
import { openFileBlobs } from './files/file-blobs';
import { openS3Blobs } from './s3/s3-blobs';
import { UnusedKeys } from './unused-keys';

/** Provides `BLOBS` and `UnusedKeys` everywhere: the bodies where `CONFIG` says that they stand, encrypted under the keys of `VAULT`. */
@Module({})
export class BlobsModule {
  static forRoot(): DynamicModule {
    return {
      module: BlobsModule,
      global: true,
      providers: [
        {
          provide: BLOBS,
          inject: [CONFIG, DATA_FOLDER, VAULT, LOGGER, Aggregates],
          useFactory: async (config: Config, DATA_DIR: string, vault: Keyring, logger: Warning, all: Aggregates) =>
            declaredBodies(
              await openBlobs({ ...config, DATA_DIR }, vault, { warn: (sentence) => logger.warn(sentence) }),
              (stream) => all.holdBlobs(stream),
            ),
        },
        UnusedKeys,
      ],
      exports: [BLOBS, UnusedKeys],
    };
  }
}

/** Opens the bodies, encrypted under the keys of `vault`: in the bucket that `S3_URL` names, which is waited for, else under `DATA_DIR`. */
export const openBlobs = (
  { S3_URL: url, DATA_DIR }: Pick<Config, 'S3_URL' | 'DATA_DIR'>,
  vault: Keyring,
  options: RetryOptions = {},
): Promise<Blobs> =>
  url === undefined
    ? openFileBlobs({ folder: join(DATA_DIR, 'blobs'), vault })
    : retry(() => openS3Blobs({ url, vault }), options);

import { join } from 'node:path';
import { type Config, type Keyring, type RetryOptions, retry } from '@app/kernel';
import type { Blobs } from './blobs';
import { openFileBlobs } from './files/file-blobs';
import { openS3Blobs } from './s3/s3-blobs';

/** Opens the bodies, encrypted under the keys of `vault`: in the bucket that `S3_URL` names, which is waited for, else under `DATA_DIR`. */
export const openBlobs = (
  { S3_URL: url, DATA_DIR }: Pick<Config, 'S3_URL' | 'DATA_DIR'>,
  vault: Keyring,
  options: RetryOptions = {},
): Promise<Blobs> =>
  url === undefined
    ? openFileBlobs({ folder: join(DATA_DIR, 'blobs'), vault })
    : retry(() => openS3Blobs({ url, vault }), options);

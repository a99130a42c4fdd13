import { Unavailable } from '@app/kernel';

/** What the system says where files cannot be read or written now (https://nodejs.org/api/errors.html#common-system-errors). */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'the disk is full',
  EROFS: 'the disk is read-only',
  EIO: 'the disk fails',
  ENXIO: 'the disk is missing',
  ENODEV: 'the disk is missing',
  ESTALE: 'the disk is missing',
  ENOENT: 'the folder of blobs is missing',
  ENOTDIR: 'a file is in the place of a folder',
  EISDIR: 'a folder is in the place of a file',
  EACCES: 'this user may not use the folder of blobs',
  EPERM: 'this user may not use the folder of blobs',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

/**
 * `Unavailable` for an error of the file system: nothing was stored then. Any other error is returned as it is, such as that of a
 * client that stops sending.
 */
export const unavailable = (error: unknown): unknown => {
  const reason = REASONS[(error as NodeJS.ErrnoException | undefined)?.code ?? ''];
  return reason === undefined ? error : new Unavailable('blobs', reason, 'none', { cause: error });
};

/** Throws what `unavailable` returns. */
export const throwUnavailable = (error: unknown): never => {
  throw unavailable(error);
};

/** Undefined for what is not there. Throws as `throwUnavailable` for any other error. */
export const absent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throwUnavailable(error);
  return undefined;
};

import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A folder with little room, and how room is made. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes away what room is left. */
  fill(): void;
  free(): void;
  dispose(): void;
}

const MEGABYTE = 1024 * 1024;
const runs = (command: string, ...given: string[]): boolean =>
  spawnSync(command, given, { stdio: 'ignore' }).status === 0;

/** A file system of its own in memory, of so many megabytes, half of which `fill` takes as `ballast`; undefined where this process may not mount one. */
export const tinyFileSystem = (
  parent: string,
  megabytes = 3,
): (SmallDisk & { readonly ballast: string }) | undefined => {
  const mount = join(parent, 'tiny');
  mkdirSync(mount);
  if (!runs('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mount)) return undefined;
  const ballast = join(mount, 'ballast');
  return {
    folder: join(mount, 'log'),
    ballast,
    fill: () => writeFileSync(ballast, Buffer.alloc((megabytes / 2) * MEGABYTE)),
    free: () => rmSync(ballast),
    dispose: () => void execFileSync('umount', ['-l', mount]),
  };
};

/** Writes to a file until the disk that it is on takes no more. */
export const fillWith = (file: string): void => {
  for (let size = MEGABYTE; size >= 1; size = Math.floor(size / 2))
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
};

/** A limit on the size of every file that this process writes; undefined where it cannot be set. */
export const fileSizeLimit = (parent: string): SmallDisk | undefined => {
  const limit = (bytes: string): boolean => runs('prlimit', '--pid', String(process.pid), `--fsize=${bytes}:`);
  if (!limit('unlimited')) return undefined;
  const free = (): void => void limit('unlimited');
  return { folder: join(parent, 'limited'), fill: () => void limit(String(MEGABYTE)), free, dispose: free };
};

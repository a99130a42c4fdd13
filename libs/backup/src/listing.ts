import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isBlobName } from '@app/blobs';
import { syncToDisk } from '@app/kernel';
import { z } from 'zod';
import { blobFolders, hashOf } from './blob-files';
import type { Listing } from './manifest';
import { namingWrites } from './naming-writes';

/** One line for each file of a backup: blobs in the order of their paths, then the log. Apart from the manifest, since there may be millions. */
export const LISTING_FILE = 'files.jsonl';
export const LOG_PATH = 'log/events.sqlite';

/** Files that are hashed at once. */
const CONCURRENCY = 8;

const listedFile = z.strictObject({
  path: z.string().regex(/^(?:log\/events\.sqlite|blobs\/[0-9a-f]{2}\/[0-9a-f]{32})$/),
  bytes: z.number().int().nonnegative(),
  /** Hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
type ListedFile = z.output<typeof listedFile>;

/** Hears how many bytes of how many are hashed. */
export type OnBytes = (progress: { readonly done: number; readonly total: number }) => void;

/** What a file of a backup is other than when it was made. */
export interface BackupFinding {
  /** `unreadable`: the disk does not give it. `unlisted`: it was not in the backup when that was made. */
  readonly kind: 'missing' | 'changed' | 'unreadable' | 'unlisted';
  /** Below the folder of the backup. */
  readonly path: string;
  readonly detail: string;
}

/** Hashes every file of a backup and writes the listing, durably. `total` is what there is to hash, in bytes. */
export const writeListing = async (folder: string, total: number, onBytes: OnBytes): Promise<Listing> => {
  const file = join(folder, LISTING_FILE);
  const out = await open(file, 'wx', 0o600);
  const digest = createHash('sha256');
  let [files, bytes, done] = [0, 0, 0];
  const onPiece = (piece: number): void => onBytes({ done: (done += piece), total: Math.max(done, total) });
  try {
    await namingWrites(file, async () => {
      for await (const paths of pathsOf(folder)) {
        for (const listed of await inOrder(paths, (path) => hashed(folder, path, onPiece))) {
          const line = `${JSON.stringify(listed satisfies ListedFile)}\n`;
          digest.update(line);
          await out.write(line);
          files += 1;
          bytes += listed.bytes;
        }
      }
      await out.sync();
    });
  } finally {
    await out.close();
  }
  await syncToDisk(folder);
  return { files, bytes, sha256: digest.digest('hex') };
};

/**
 * Compares every file of a backup with its listing, in memory of one folder of blobs. Calls `found` for what differs.
 * Reads only.
 */
export const checkListing = async (
  folder: string,
  listing: Listing,
  found: (finding: BackupFinding) => void,
  onBytes: OnBytes,
): Promise<void> => {
  const list = await hashed(folder, LISTING_FILE).catch((error: NodeJS.ErrnoException) =>
    findingOf(LISTING_FILE, error),
  );
  if ('kind' in list) return found(list);
  if (list.sha256 !== listing.sha256)
    return found({ kind: 'changed', path: LISTING_FILE, detail: 'so the other files cannot be checked' });
  let done = 0;
  const onPiece = (piece: number): void => onBytes({ done: (done += piece), total: Math.max(done, listing.bytes) });
  const check = async (expected: ListedFile): Promise<void> => {
    const finding = await compared(folder, expected, onPiece);
    if (finding !== undefined) found(finding);
  };
  const unseen = new Set(await blobFolders(join(folder, 'blobs')));
  for await (const { place, files } of placesIn(join(folder, LISTING_FILE))) {
    await inOrder(files, check);
    if (place === 'log') continue;
    unseen.delete(place);
    const known = new Set(files.map(({ path }) => path));
    for (const path of await blobPaths(folder, place)) if (!known.has(path)) found(unlisted(path));
  }
  for (const place of unseen) for (const path of await blobPaths(folder, place)) found(unlisted(path));
};

const unlisted = (path: string): BackupFinding => ({
  kind: 'unlisted',
  path,
  detail: 'it was not in the backup when it was made',
});

const compared = async (
  folder: string,
  { path, bytes, sha256 }: ListedFile,
  onPiece: (bytes: number) => void,
): Promise<BackupFinding | undefined> => {
  try {
    const found = await hashed(folder, path, onPiece);
    if (found.bytes !== bytes)
      return { kind: 'changed', path, detail: `its size is ${found.bytes} bytes instead of ${bytes}` };
    if (found.sha256 === sha256) return undefined;
    return { kind: 'changed', path, detail: 'its content changed since the backup' };
  } catch (error) {
    return findingOf(path, error as NodeJS.ErrnoException);
  }
};

const findingOf = (path: string, error: NodeJS.ErrnoException): BackupFinding => {
  if (error.syscall === undefined) throw error;
  return error.code === 'ENOENT'
    ? { kind: 'missing', path, detail: 'it is missing' }
    : { kind: 'unreadable', path, detail: error.message };
};

const hashed = async (folder: string, path: string, onPiece?: (bytes: number) => void): Promise<ListedFile> => ({
  path,
  ...(await hashOf(join(folder, path), onPiece)),
});

/** The paths of a backup in the order of its listing, one folder at a time. */
async function* pathsOf(folder: string): AsyncGenerator<readonly string[]> {
  for (const place of await blobFolders(join(folder, 'blobs'))) yield blobPaths(folder, place);
  yield [LOG_PATH];
}

const blobPaths = async (folder: string, place: string): Promise<readonly string[]> =>
  (await readdir(join(folder, 'blobs', place)))
    .filter(isBlobName)
    .toSorted()
    .map((name) => `blobs/${place}/${name}`);

interface Place {
  /** A folder of blobs, or `log`. */
  readonly place: string;
  readonly files: readonly ListedFile[];
}

async function* placesIn(listing: string): AsyncGenerator<Place> {
  let [place, files]: [string, ListedFile[]] = ['', []];
  for await (const line of createInterface({ input: createReadStream(listing, 'utf8'), crlfDelay: Infinity })) {
    const listed = listedFile.parse(JSON.parse(line));
    const its = listed.path === LOG_PATH ? 'log' : listed.path.slice('blobs/'.length, 'blobs/'.length + 2);
    if (its !== place && files.length > 0) {
      yield { place, files };
      files = [];
    }
    place = its;
    files.push(listed);
  }
  if (files.length > 0) yield { place, files };
}

const inOrder = async <T, R>(all: readonly T[], work: (each: T) => Promise<R>): Promise<readonly R[]> => {
  const results: R[] = [];
  for (let from = 0; from < all.length; from += CONCURRENCY)
    results.push(...(await Promise.all(all.slice(from, from + CONCURRENCY).map(work))));
  return results;
};

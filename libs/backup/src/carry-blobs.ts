import type { BlobName, Blobs } from '@app/blobs';
import { type RetryOptions, retry } from '@app/kernel';
import { BackupError } from './manifest';

const PAGE = 500;
const CONCURRENCY = 8;

/** Answers how many bodies the target holds of the source's, and how many of these were carried now. */
export interface CarriedBlobs {
  readonly blobs: number;
  readonly carried: number;
}

/**
 * Copies the encrypted bodies that one store has and another lacks. Compares those that are there already, and those
 * that it wrote, so an interrupted copy can be repeated. Waits for a store that goes away. Throws `BackupError` if
 * two bodies of one name differ.
 */
export const carryBlobs = async (
  from: Blobs,
  to: Blobs,
  onProgress: (done: number) => void = () => undefined,
  options: RetryOptions = {},
): Promise<CarriedBlobs> => {
  let blobs = 0;
  let carried = 0;
  const carry = async (name: BlobName): Promise<void> => {
    const stored = await retry(() => from.readStored(name), options);
    // Removed since it was listed: nothing that the log still names.
    if (stored === undefined) return;
    const present = await retry(() => to.readStored(name), options);
    if (present === undefined) {
      await retry(() => to.writeStored(name, stored), options);
      carried += 1;
    }
    const written = present ?? (await retry(() => to.readStored(name), options));
    if (written?.equals(stored) !== true) throw new BackupError(`blob ${name} differs between the stores`);
    onProgress((blobs += 1));
  };
  const listed = async (after: BlobName | null): Promise<BlobName[]> => [
    ...(await retry(() => from.list(after, PAGE), options)),
  ];
  for (let page = await listed(null); page.length > 0;) {
    const last = page.at(-1) ?? null;
    await Promise.all(Array.from({ length: CONCURRENCY }, () => drain(page, carry)));
    page = await listed(last);
  }
  return { blobs, carried };
};

const drain = async (names: BlobName[], work: (name: BlobName) => Promise<void>): Promise<void> => {
  for (let name = names.pop(); name !== undefined; name = names.pop()) await work(name);
};

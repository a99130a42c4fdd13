import { inTime, unlessLeft } from '@app/kernel';
import type { BlobName, Blobs } from './blobs';

/** How long is waited until bodies are removed, milliseconds. */
const DISCARD_MS = 2_000;

/**
 * Removes bodies that no event came to name. It changes nothing of how the write ended that stored them: what cannot be removed now is swept
 * later, and what takes longer than 2 s is removed behind the answer.
 */
export const discardBodies = async (blobs: Pick<Blobs, 'remove'>, names: readonly BlobName[]): Promise<void> => {
  if (names.length === 0) return;
  await inTime(
    DISCARD_MS,
    unlessLeft(() => blobs.remove(names)),
  );
};

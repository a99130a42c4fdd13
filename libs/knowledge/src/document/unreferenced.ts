import type { Blobs } from '@app/blobs';
import { isUnavailable } from '@app/kernel';

/** Removes a body whose event was not written. Where that is not known, the body stays: the event may name it. */
export const removeUnreferenced = async (blobs: Blobs, name: string, error: unknown): Promise<void> => {
  if (!(isUnavailable(error) && error.outcome === 'unknown')) await blobs.remove([name]);
};

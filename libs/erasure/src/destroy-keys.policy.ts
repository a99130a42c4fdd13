import type { Policy } from '@app/projecting';
import { type EraseContentParts, onDeletion, removeBlobs } from './erase-content.policy';

const NAME = 'destroy-keys';

/**
 * Destroys keys and removes blobs as soon as something is deleted, also while the erasure of another deletion takes long: some
 * stores purge in half a minute.
 */
export const destroyKeys = (
  parts: Pick<EraseContentParts, 'aggregates' | 'decisions' | 'vault' | 'memories' | 'blobs' | 'blobsOf'>,
): Policy => ({
  name: NAME,
  ...onDeletion(parts, async (_event, selector) => {
    const streams = await parts.vault.destroy(selector);
    parts.memories.forEach((memory) => memory.forget(streams));
    await removeBlobs(parts, streams);
  }),
});

import { Turns } from '@app/kernel';
import type { Policy } from '@app/projecting';
import { EACH_TURN, type EraseContentParts, onDeletion, removeBlobs } from './erase-content.policy';

const NAME = 'destroy-keys';

/**
 * Destroys keys and removes blobs as soon as something is deleted, also while the erasure of another deletion takes long: some
 * stores purge in half a minute.
 */
export const destroyKeys = (
  parts: Pick<EraseContentParts, 'aggregates' | 'decisions' | 'destroy' | 'memories' | 'blobs' | 'blobsOf'>,
): Policy => {
  const turns = new Turns(EACH_TURN);
  return {
    name: NAME,
    ...onDeletion(parts, turns, async ({ context }, selector) => {
      const streams = await parts.destroy(NAME, context.id, selector);
      await turns.next();
      parts.memories.forEach((memory) => memory.forget(streams));
      await removeBlobs(parts, streams);
    }),
  };
};

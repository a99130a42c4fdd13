import type { Blobs } from '@app/blobs';
import type { RecordedEvent } from '@app/kernel';
import type { Policy } from '@app/projecting';
import type { DocumentEvent } from '../document/document.events';

/** Removes bodies that nothing refers to any more: those that new content replaced, and all of a deleted document. */
export const removeBlobs = (blobs: Blobs): Policy => ({
  name: 'remove-document-blobs',
  types: ['DocumentReady', 'DocumentDeleted'],
  react: async (event) => {
    const { type, data } = event as RecordedEvent & Extract<DocumentEvent, { type: 'DocumentReady' | 'DocumentDeleted' }>;
    await blobs.remove(type === 'DocumentReady' ? data.superseded : data.blobs);
  },
});

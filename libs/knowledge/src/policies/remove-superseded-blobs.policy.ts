import type { Blobs } from '@app/blobs';
import type { RecordedEvent } from '@app/kernel';
import type { Policy } from '@app/projecting';
import type { DocumentEvent } from '../document/document.events';

/** Removes bodies that newer content or passages replaced, once those are served. Erasure removes what a deletion leaves. */
export const removeSupersededBlobs = (blobs: Blobs): Policy => ({
  name: 'remove-superseded-blobs',
  types: ['DocumentReady'],
  react: async (event) => {
    const { data } = event as RecordedEvent & Extract<DocumentEvent, { type: 'DocumentReady' }>;
    if (data.superseded.length > 0) await blobs.remove(data.superseded);
  },
});

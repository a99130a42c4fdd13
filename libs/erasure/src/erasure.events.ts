import { defineEvent } from '@app/kernel';
import { z } from 'zod';

/** Stands in `erasure-<id of the deletion event>`: the receipt that a verifier shows. It holds no content. */
export const ContentErased = defineEvent({
  type: 'ContentErased',
  description:
    'After a deletion, the keys of the content were destroyed and every store was purged. The content can no longer be read.',
  data: z.strictObject({
    /** The deletion. */
    eventId: z.uuid(),
    eventType: z.string(),
    stream: z.string(),
    /** Streams whose keys were destroyed; a long list goes on in the next event of the stream. */
    things: z.array(z.string()),
    thingsInAll: z.number().int().nonnegative(),
    blobs: z.number().int().nonnegative(),
    /** Stores and memories that were purged. */
    purged: z.array(z.string()),
  }),
});

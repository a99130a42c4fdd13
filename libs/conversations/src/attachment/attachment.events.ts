import { defineEvent, type EventsOf, heldBlob, releasedBlobs, sensitive, textSchema } from '@app/kernel';
import { z } from 'zod';
import { imageSize } from '../conversation/message-parts';

export const attachmentAdded = defineEvent({
  type: 'AttachmentAdded',
  description:
    'A user uploaded a file to attach it to questions. It is deleted when it expires, unless a message refers to it before.',
  data: z.strictObject({
    fileId: z.uuid(),
    agentId: z.uuid(),
    spaceId: z.uuid(),
    userId: z.uuid(),
    filename: sensitive(textSchema(500)),
    mediaType: z.string(),
    sizeBytes: z.number().int().nonnegative(),
    expiresAt: z.iso.datetime(),
    /** Of an image that says it. */
    size: imageSize.exactOptional(),
    file: heldBlob(),
    /** What was read in it; absent where there is no text. */
    text: heldBlob().exactOptional(),
  }),
});

export const attachmentDeleted = defineEvent({
  type: 'AttachmentDeleted',
  description: 'An attached file was deleted permanently: it expired, or no message refers to it any more.',
  data: z.strictObject({ blobs: releasedBlobs() }),
});

export const attachmentEvents = [attachmentAdded, attachmentDeleted] as const;
export type AttachmentEvent = EventsOf<typeof attachmentEvents>;

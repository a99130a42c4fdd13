import { defineEvent, sensitive, textSchema, type EventsOf } from '@app/kernel';
import { z } from 'zod';

const tagId = z.uuid();
const name = sensitive(textSchema(200));
const color = z.string();

export const tagCreated = defineEvent({
  type: 'TagCreated',
  description: 'A Knowledge tag was created in a Space.',
  data: z.strictObject({ tagId, spaceId: z.uuid(), name, color }),
});

export const tagUpdated = defineEvent({
  type: 'TagUpdated',
  description: 'The name or colour of a tag changed.',
  data: z.strictObject({ tagId, name, color }),
});

export const tagDeleted = defineEvent({
  type: 'TagDeleted',
  description:
    'A tag was deleted and removed from its documents. `withSpace`: it was created in a Space that had just been deleted.',
  data: z.strictObject({ tagId, withSpace: z.boolean().optional() }),
});

export const tagEvents = [tagCreated, tagUpdated, tagDeleted] as const;
export type TagEvent = EventsOf<typeof tagEvents>;

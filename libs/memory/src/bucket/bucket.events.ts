import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';
import { memoryKind } from '../memory/memory.events';

/** What a place is taken for; `edit`: the memory has it, and its text is to change; `note`: an edit is over, and this is its text; `propose`: it waits among the proposals of its user. */
export const placeUse = z.enum(['save', 'confirm', 'save-for-me', 'edit', 'note', 'propose']);
export type PlaceUse = z.output<typeof placeUse>;

export const memoryPlaceTaken = defineEvent({
  type: 'MemoryPlaceTaken',
  description:
    'A memory took a place in its bucket, before it was saved. `replaces`: it took the place of this memory, which is then deleted. `use` is `propose` for a place among the proposals that wait for the user; `edit` when the memory will get another text, until `note` says which text it has. Equal texts have an equal keyed hash.',
  data: z.strictObject({
    agentId: z.uuid(),
    /** Null for the shared memories of the Agent. */
    userId: z.uuid().nullable(),
    kind: memoryKind,
    memoryId: z.uuid(),
    /** Of the request that took it: others for the same memory have theirs. */
    ticket: z.uuid(),
    hash: z.string(),
    replaces: z.uuid().nullable(),
    use: placeUse,
    screening: z.strictObject({ version: z.string() }),
  }),
});

export const memoryPlaceReleased = defineEvent({
  type: 'MemoryPlaceReleased',
  description: 'Memories gave back their places in a bucket: all of their places, or the one of `ticket`.',
  data: z.strictObject({ memoryIds: z.array(z.uuid()), ticket: z.uuid().nullable() }),
});

export const bucketEvents = [memoryPlaceTaken, memoryPlaceReleased] as const;
export type BucketEvent = EventsOf<typeof bucketEvents>;

import { defineEvent, type EventsOf, sensitive, textSchema } from '@app/kernel';
import { z } from 'zod';

/** Characters of a memory. */
export const MOST_CHARACTERS = 300;

export const memoryKind = z.enum(['personal', 'shared']);
/** `personal`: its user's alone. `shared`: everybody's who uses the Agent. */
export type MemoryKind = z.output<typeof memoryKind>;

export const memoryOrigin = z.enum(['user', 'agent', 'content']);
/** Who said it: the user, the Agent, or content that was read, such as a document. */
export type MemoryOrigin = z.output<typeof memoryOrigin>;

/** The message in which it came up. */
export const memorySource = z.strictObject({
  conversationId: z.uuid().describe('The conversation.'),
  messageId: z.uuid().describe('The message in it.'),
});
export type MemorySource = z.output<typeof memorySource>;

const text = sensitive(textSchema(MOST_CHARACTERS));
/** Keyed hash of the text as texts are compared, in one bucket: equal texts have equal ones, and it gives none away. */
const hash = z.string();
/** The version of the screener that found the text safe. */
const screening = z.strictObject({ version: z.string() });

const place = z.strictObject({ agentId: z.uuid(), userId: z.uuid(), kind: memoryKind });
const discardReason = z.enum(['discarded', 'lapsed', 'equal', 'deleted', 'abandoned']);
/** Why a proposal or its text is gone; the event that holds it describes each. */
export type DiscardReason = z.output<typeof discardReason>;

const made = z.strictObject({
  memoryId: z.uuid(),
  agentId: z.uuid(),
  spaceId: z.uuid(),
  userId: z.uuid(),
  kind: memoryKind,
  text,
  hash,
  origin: memoryOrigin,
  source: memorySource.nullable(),
  /** The memory that this one takes the place of. */
  replaces: z.uuid().nullable(),
  screening,
});

export const memoryProposed = defineEvent({
  type: 'MemoryProposed',
  description:
    'A memory was proposed. Only its user sees it, who confirms it, saves it for themselves or discards it; otherwise it lapses.',
  data: made.extend({ expiresAt: z.iso.datetime() }),
});

export const memorySaved = defineEvent({
  type: 'MemorySaved',
  description: 'A personal memory was saved. It holds a place in the bucket of its Agent and user.',
  data: made,
});

export const memoryConfirmed = defineEvent({
  type: 'MemoryConfirmed',
  description: 'A proposed memory was saved as it was proposed: a shared one for everybody who uses the Agent.',
  data: z.strictObject({ agentId: z.uuid(), kind: memoryKind, screening }),
});

export const memorySavedForMe = defineEvent({
  type: 'MemorySavedForMe',
  description: 'A proposed memory was saved as a personal one.',
  data: z.strictObject({ agentId: z.uuid(), hash, screening }),
});

export const memoryDiscarded = defineEvent({
  type: 'MemoryDiscarded',
  description:
    'A proposed memory was not saved, and its content is erased: its user discarded or deleted it, it lapsed, its text was saved already, or what it belongs to was deleted. `abandoned`: a request to save one was cut short before.',
  data: place.extend({ reason: discardReason }),
});

export const memoryEdited = defineEvent({
  type: 'MemoryEdited',
  description: 'The text of a saved memory changed.',
  data: z.strictObject({ text, hash, screening }),
});

export const memoryEditAbandoned = defineEvent({
  type: 'MemoryEditAbandoned',
  description:
    'A saved memory keeps its text: a request to change it was cut short, or is too slow, and cannot change it any more. Others may have the text that it was to have. `ticket`: of the place that was taken for it.',
  data: z.strictObject({ ticket: z.uuid() }),
});

export const memoryFlagged = defineEvent({
  type: 'MemoryFlagged',
  description:
    'A text was flagged as unsafe, and not saved: a keyed hash of it, the rules that it broke, the version of the screener. A proposal that is flagged as it is chosen is erased.',
  data: place.extend({
    during: z.enum(['creation', 'choice', 'edit']),
    hash: z.string(),
    rules: z.array(z.string()),
    version: z.string(),
  }),
});

export const memoryDeleted = defineEvent({
  type: 'MemoryDeleted',
  description: 'A saved memory was deleted permanently.',
  data: place,
});

export const memoryEvents = [
  memoryProposed,
  memorySaved,
  memoryConfirmed,
  memorySavedForMe,
  memoryDiscarded,
  memoryEdited,
  memoryEditAbandoned,
  memoryFlagged,
  memoryDeleted,
] as const;
export type MemoryEvent = EventsOf<typeof memoryEvents>;

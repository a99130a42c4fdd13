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
    'A memory was proposed. Only its user sees it. They confirm it, save it for themselves or discard it; otherwise it expires.',
  data: made.extend({ expiresAt: z.iso.datetime() }),
});

export const memorySaved = defineEvent({
  type: 'MemorySaved',
  description: 'A personal memory was saved. It holds a place in the bucket of its Agent and user.',
  data: made,
});

export const memoryConfirmed = defineEvent({
  type: 'MemoryConfirmed',
  description:
    'A user confirmed a proposed memory, and it was saved. A shared one is for everybody who uses the Agent.',
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
    'A proposed memory was not saved, and its content is erased. `reason`: its user discarded it (`discarded`), it expired (`lapsed`), its text was already saved (`equal`), it was deleted itself or with what it belongs to (`deleted`), or a request to save it was cut short (`abandoned`).',
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
    'A request to edit a memory was cut short or too slow, and can no longer change it. The memory keeps its text. Other memories may have the text that it would have got. `ticket` names the place that was taken for the edit.',
  data: z.strictObject({ ticket: z.uuid() }),
});

export const memoryFlagged = defineEvent({
  type: 'MemoryFlagged',
  description:
    'Screening flagged a text as unsafe, and it was not saved. Holds a keyed hash of the text, the rules that it broke and the version of the screener. If a proposal is flagged when its user saves it, it is erased.',
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

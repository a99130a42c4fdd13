import { defineEvent, sensitive, textSchema, type EventsOf } from '@app/kernel';
import { invocationUsage } from '@app/models';
import { z } from 'zod';
import { messagePart } from './message-parts';

const id = z.uuid();
const title = sensitive(textSchema(500));
const parts = sensitive(z.array(messagePart));

/** Incognito conversations have no events at all: their content never reaches the log. */
export const conversationKind = z.enum(['normal', 'private']);
export type ConversationKind = z.output<typeof conversationKind>;

export const finishReason = z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other']);

export const conversationStarted = defineEvent({
  type: 'ConversationStarted',
  description: 'A user began a conversation with an Agent.',
  data: z.strictObject({ conversationId: id, agentId: id, spaceId: id, userId: id, kind: conversationKind, title }),
});

export const userMessageAdded = defineEvent({
  type: 'UserMessageAdded',
  description: 'The user said something; the answer will have the id named here. Until it is there the turn is open.',
  data: z.strictObject({
    conversationId: id,
    messageId: id,
    parentId: id.nullable(),
    parts,
    answerId: id,
    channel: z.enum(['api', 'web', 'embed', 'app']),
  }),
});

export const assistantMessageContinued = defineEvent({
  type: 'AssistantMessageContinued',
  description:
    'More of an answer was said while it was under way. `from` is its offset in the text: what was said before from there on is void. The whole stands in the finished message.',
  data: z.strictObject({
    conversationId: id,
    messageId: id,
    parentId: id,
    from: z.number().int().nonnegative(),
    text: sensitive(textSchema(4_000_000)),
  }),
});

export const assistantMessageAdded = defineEvent({
  type: 'AssistantMessageAdded',
  description: 'The Agent answered, or could not: one event for a finished message, whatever its end.',
  data: z.strictObject({
    conversationId: id,
    messageId: id,
    parentId: id,
    parts,
    status: z.enum(['complete', 'stopped', 'failed']),
    finishReason,
    /** Code of the failure, free of content. */
    errorCode: z.string().exactOptional(),
    model: z.string(),
    usage: invocationUsage.nullable(),
  }),
});

export const conversationRenamed = defineEvent({
  type: 'ConversationRenamed',
  description: 'A conversation got another title.',
  data: z.strictObject({ title }),
});

export const conversationArchived = defineEvent({
  type: 'ConversationArchived',
  description: 'A conversation was put away; lists leave it out unless asked.',
  data: z.strictObject({}),
});

export const conversationUnarchived = defineEvent({
  type: 'ConversationUnarchived',
  description: 'An archived conversation is listed again.',
  data: z.strictObject({}),
});

export const conversationDeleted = defineEvent({
  type: 'ConversationDeleted',
  description: 'The conversation and all its messages are gone for good.',
  data: z.strictObject({}),
});

export const conversationEvents = [
  conversationStarted,
  userMessageAdded,
  assistantMessageContinued,
  assistantMessageAdded,
  conversationRenamed,
  conversationArchived,
  conversationUnarchived,
  conversationDeleted,
] as const;

export type ConversationEvent = EventsOf<typeof conversationEvents>;

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

/** Parts of a search that went without their model. */
export const degradedPart = z.enum(['vector', 'rerank']);

export const conversationStarted = defineEvent({
  type: 'ConversationStarted',
  description: 'A user started a conversation with an Agent.',
  data: z.strictObject({ conversationId: id, agentId: id, spaceId: id, userId: id, kind: conversationKind, title }),
});

export const userMessageAdded = defineEvent({
  type: 'UserMessageAdded',
  description: 'The user asked something. The answer will have the id named here; the turn is open until then.',
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
    'A streaming answer continued. `from` is the offset of this text; it replaces what was there from that offset on. The finished message holds the whole answer.',
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
  description: 'An answer ended: complete, stopped or failed.',
  data: z.strictObject({
    conversationId: id,
    messageId: id,
    parentId: id,
    parts,
    status: z.enum(['complete', 'stopped', 'failed']),
    finishReason,
    /** Code of the failure, free of content. */
    errorCode: z.string().exactOptional(),
    /** Models that did not answer, so that Knowledge was searched without them. */
    degraded: z.array(degradedPart).exactOptional(),
    model: z.string(),
    usage: invocationUsage.nullable(),
  }),
});

export const conversationRenamed = defineEvent({
  type: 'ConversationRenamed',
  description: 'A conversation was renamed.',
  data: z.strictObject({ title }),
});

export const conversationArchived = defineEvent({
  type: 'ConversationArchived',
  description: 'A conversation was archived. Lists omit it unless asked.',
  data: z.strictObject({}),
});

export const conversationUnarchived = defineEvent({
  type: 'ConversationUnarchived',
  description: 'An archived conversation was restored to the lists.',
  data: z.strictObject({}),
});

export const conversationDeleted = defineEvent({
  type: 'ConversationDeleted',
  description: 'A conversation was deleted permanently, with all its messages.',
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

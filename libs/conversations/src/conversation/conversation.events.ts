import { defineEvent, sensitive, textSchema, type EventsOf } from '@app/kernel';
import { invocationUsage } from '@app/models';
import { z } from 'zod';
import { checkpointEvents } from './checkpoint.events';
import { messagePart } from './message-parts';
import { provenance } from './provenance.schema';
import { toolApprovalRequested, toolApprovalResponded } from './tool-approval.events';

const id = z.uuid();
const title = sensitive(textSchema(500));
const parts = sensitive(z.array(messagePart));

/** Incognito conversations have no events at all: their content never reaches the log. */
export const conversationKind = z.enum(['normal', 'private']);
export type ConversationKind = z.output<typeof conversationKind>;

export const finishReason = z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other']);

/** Where a question comes from. */
const channel = z.enum(['api', 'web', 'embed', 'app']);
export type Channel = z.output<typeof channel>;

/** Whether memories are applied and proposed where the Agent has them: off where an API streams the answer. Absent: they are. */
const memory = z.literal('off').exactOptional();

/** Tokens of the message in `cl100k_base`, about, where they were counted: it is short, and of no earlier version. */
const tokens = z.int().nonnegative().exactOptional();

/** Parts of a search that went without their model. */
export const degradedPart = z.enum(['vector', 'rerank']);

/** From its second schema on each of these stands under the data key of its message; before, under that of the conversation. */
const sameData = (data: Record<string, unknown>): Record<string, unknown> => data;

export const conversationStarted = defineEvent({
  type: 'ConversationStarted',
  description: 'A user started a conversation with an Agent. The title is the beginning of the message `messageId`.',
  data: z.strictObject({
    conversationId: id,
    agentId: id,
    spaceId: id,
    userId: id,
    kind: conversationKind,
    title,
    messageId: id.nullable(),
  }),
  entity: 'messageId',
  upcasters: [(data) => ({ ...data, messageId: null })],
});

export const userMessageAdded = defineEvent({
  type: 'UserMessageAdded',
  description:
    'The user asked a question. `answerId` is the id of its answer; the turn stays open until the answer ends.',
  data: z.strictObject({
    conversationId: id,
    messageId: id,
    parentId: id.nullable(),
    parts,
    answerId: id,
    channel,
    memory,
    /** The files that it names, if any. */
    fileIds: z.array(id).exactOptional(),
    tokens,
  }),
  entity: 'messageId',
  upcasters: [sameData],
});

export const answerRequested = defineEvent({
  type: 'AnswerRequested',
  description:
    'A user requested one more answer to a question. `answerId` is its id; the turn stays open until the answer ends.',
  data: z.strictObject({ conversationId: id, messageId: id, answerId: id, channel, memory }),
});

export const feedbackGiven = defineEvent({
  type: 'FeedbackGiven',
  description: 'The user rated an answer. A rating of null takes back the earlier one.',
  data: z.strictObject({
    conversationId: id,
    messageId: id,
    rating: z.enum(['up', 'down']).nullable(),
    comment: sensitive(textSchema(2_000)).exactOptional(),
  }),
  entity: 'messageId',
});

export const assistantMessageContinued = defineEvent({
  type: 'AssistantMessageContinued',
  description:
    'More of a streaming answer was saved. `part` is the index of the first part that changed, `offset` the number of characters of its text that stay. `parts` replace everything after that place. The finished message holds the whole answer.',
  data: z.strictObject({
    conversationId: id,
    messageId: id,
    parentId: id,
    part: z.number().int().nonnegative(),
    offset: z.number().int().nonnegative(),
    parts: parts.exactOptional(),
    /** In place of parts in what was recorded by the first schema, which knew text alone: a ciphertext opens at its own field only. */
    text: sensitive(textSchema(4_000_000)).exactOptional(),
  }),
  entity: 'messageId',
  upcasters: [({ from, ...data }) => ({ ...data, part: 0, offset: from })],
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
    /** What it was made from; absent in answers of earlier versions, and where nothing was asked. */
    provenance: provenance.exactOptional(),
    /** That of its question. */
    channel: channel.exactOptional(),
    tokens,
  }),
  entity: 'messageId',
  upcasters: [sameData],
});

export const messageDeleted = defineEvent({
  type: 'MessageDeleted',
  description:
    'A message was deleted permanently. The messages below it move to `parentId`. `isUnfinished`: it was an answer in progress, which ended with this.',
  data: z.strictObject({
    conversationId: id,
    messageId: id,
    parentId: id.nullable(),
    childIds: z.array(id),
    isUnfinished: z.literal(true).exactOptional(),
  }),
});

export const conversationTitled = defineEvent({
  type: 'ConversationTitled',
  description:
    'A conversation got a title automatically: from the message `messageId`, or by a model from this message and the answer `answerId`. If either of them was deleted, a neutral title replaces it.',
  data: z.strictObject({
    title,
    messageId: id.nullable(),
    /** The answer that it was made from too; absent in titles of before 1.6. */
    answerId: id.exactOptional(),
  }),
  entity: 'messageId',
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
  description:
    'A conversation was deleted permanently, with all its messages. `memoriesOf`: also delete the memories that this user saved or proposed from it.',
  data: z.strictObject({ memoriesOf: z.uuid().optional() }),
});

export const conversationEvents = [
  ...checkpointEvents,
  conversationStarted,
  userMessageAdded,
  answerRequested,
  feedbackGiven,
  assistantMessageContinued,
  toolApprovalRequested,
  toolApprovalResponded,
  assistantMessageAdded,
  messageDeleted,
  conversationTitled,
  conversationRenamed,
  conversationArchived,
  conversationUnarchived,
  conversationDeleted,
] as const;

export type ConversationEvent = EventsOf<typeof conversationEvents>;

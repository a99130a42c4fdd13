import { conversationKind } from '@app/conversations';
import { exposed, flagText, listQuery, presenter } from '@app/http';
import { nameSchema, placeFields, textSchema } from '@app/kernel';
import { invocationUsage } from '@app/models';
import { type ConversationRow, conversationRow } from '@projections/conversations';
import { messageRow } from '@projections/messages';
import { z } from 'zod';

const words = textSchema(1_000_000).refine((text) => text.trim() !== '', { message: 'must not be empty' });
const textPart = z.strictObject({
  type: z.literal('text').describe('The kind of part.'),
  text: words.describe('The text.'),
});

export const newTurn = z.strictObject({
  conversationId: z.uuid().optional().describe('The conversation that goes on; a new one by default.'),
  message: z
    .union([
      words,
      z.strictObject({
        role: z.string().max(50).optional().describe('`user`, or absent.'),
        parts: z.array(textPart).min(1).max(1_000).describe('What is said.'),
      }),
    ])
    .describe('What is said: text, or parts.'),
  parentId: z.uuid().optional().describe('The message that this follows; the last one by default.'),
  kind: z.enum(['normal', 'private', 'incognito']).optional().describe('How a new conversation is kept.'),
  stream: z.boolean().default(false).describe('Answers as Server-Sent Events.'),
});

export const conversationChange = z
  .strictObject({
    title: nameSchema(500).describe('Its title.'),
    archived: z.boolean().describe('Whether it is archived.'),
  })
  .partial();

export const conversationsQuery = listQuery({
  archived: flagText.default(false).describe('Archived conversations rather than the others.'),
  kind: conversationKind.optional().describe('Only conversations of this kind.'),
  q: z.string().min(1).max(200).optional().describe('Only conversations whose title holds this.'),
});
export const messagesQuery = listQuery({});
export const streamQuery = z.strictObject({
  after: z.string().min(1).max(100).optional().describe('The id of the last event that was received.'),
});

export const conversationView = presenter<ConversationRow>(
  'Conversation',
  exposed(conversationRow, {
    id: true,
    agentId: 'The Agent that answers.',
    userId: 'Whose conversation it is.',
    title: 'Its title.',
    kind: 'How it is kept.',
    archived: 'Whether it is archived.',
    messageCount: 'How many messages it has.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }).extend({ codeExecution: z.null().describe('The state of its code execution; null: there is none.') }),
  (row) => ({ ...row, codeExecution: null }),
);

/** A summary beside a source. */
export const shownSummary = z
  .object({
    id: z.string().describe('The id of the summary.'),
    level: z.number().int().describe('Its level; 1 sums up chunks alone.'),
    text: z.string().describe('What it says. A model wrote it: cite the source instead.'),
  })
  .meta({ id: 'SectionSummary' });

/** The members of every kind of part in one, since a view class exposes by name. */
const shownPart = z.object({
  type: z.enum(['text', 'source-document']).describe('The kind of part.'),
  text: z.string().optional().describe('The text; of a `text` part.'),
  sourceId: z.string().optional().describe('The id of the chunk; as all below, of a `source-document` part.'),
  documentId: z.string().optional().describe('The id of the document.'),
  documentRevision: z.number().int().optional().describe('The revision of the document that was quoted.'),
  chunkHash: z.string().optional().describe('SHA-256 of the chunk.'),
  title: z.string().optional().describe('The name of the document.'),
  mediaType: z.string().optional().describe('The media type of the document.'),
  position: z
    .object({
      start: z.number().int().describe('The first character.'),
      end: z.number().int().describe('The character behind the last.'),
      ...placeFields,
      heading: z.string().optional().describe('The heading above it.'),
    })
    .optional()
    .describe('Where the chunk stands in the text.'),
  quote: z.string().optional().describe('What supports the answer, verbatim.'),
  summary: shownSummary
    .optional()
    .describe('The summary of the section that it stands in, if the Agent includes them.'),
});

export const messageView = presenter(
  'Message',
  exposed(messageRow, {
    id: true,
    conversationId: 'The conversation that it belongs to.',
    parentId: 'The message that it answers, or null.',
    role: 'Who says it.',
    parts: 'What is said.',
    status: 'Whether it is whole.',
    finishReason: 'Why the answer ended.',
    usage: 'What the answer took, or null.',
    model: 'The model that answered.',
    degraded: 'Models that did not answer in time, without which Knowledge was searched.',
    createdAt: true,
  }).extend({ parts: z.array(shownPart).describe('What is said.') }),
);

export const turnAnswer = z
  .object({
    conversationId: z.string().describe('The conversation, also where it was begun by this.'),
    message: messageView.schema.describe('The answer.'),
    usage: invocationUsage.nullable().describe('What the answer took, or null.'),
  })
  .meta({ id: 'Answer' });
export const stopAnswer = z
  .object({ stopped: z.boolean().describe('Whether an answer was running.') })
  .meta({ id: 'StoppedAnswer' });

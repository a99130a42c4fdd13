import { conversationKind } from '@app/conversations';
import { nameSchema, textSchema } from '@app/kernel';
import { invocationUsage } from '@app/models';
import { type ConversationRow, conversationRow } from '@projections/conversations';
import { messageRow } from '@projections/messages';
import { z } from 'zod';
import { flagText, listQuery, presenter } from '../../http';

const words = textSchema(1_000_000).refine((text) => text.trim() !== '', { message: 'must not be empty' });
const textPart = z.strictObject({ type: z.literal('text'), text: words });

export const newTurn = z.strictObject({
  conversationId: z.uuid().optional(),
  message: z.union([
    words,
    z.strictObject({ role: z.string().max(50).optional(), parts: z.array(textPart).min(1).max(1_000) }),
  ]),
  parentId: z.uuid().optional(),
  kind: z.enum(['normal', 'private', 'incognito']).optional(),
  stream: z.boolean().default(false),
});

export const conversationChange = z.strictObject({ title: nameSchema(500), archived: z.boolean() }).partial();

export const conversationsQuery = listQuery({
  archived: flagText.default(false),
  kind: conversationKind.optional(),
  q: z.string().min(1).max(200).optional(),
});
export const messagesQuery = listQuery({});
export const streamQuery = z.strictObject({ after: z.string().min(1).max(100).optional() });

export const conversationView = presenter<ConversationRow>(
  conversationRow.omit({ spaceId: true }).extend({ codeExecution: z.null() }),
  (row) => ({ ...row, codeExecution: null }),
);

/** The members of every kind of part in one, since a view class exposes by name. */
const shownPart = z.object({
  type: z.enum(['text', 'source-document']),
  text: z.string().optional(),
  sourceId: z.string().optional(),
  documentId: z.string().optional(),
  documentRevision: z.number().int().optional(),
  chunkHash: z.string().optional(),
  title: z.string().optional(),
  mediaType: z.string().optional(),
  position: z
    .object({
      start: z.number().int(),
      end: z.number().int(),
      page: z.number().int().optional(),
      heading: z.string().optional(),
    })
    .optional(),
  quote: z.string().optional(),
});

export const messageView = presenter(
  messageRow.omit({ sequence: true }).extend({ parts: z.array(shownPart), usage: invocationUsage.nullable() }),
);

export const turnAnswer = z.object({
  conversationId: z.string(),
  message: messageView.schema,
  usage: invocationUsage.nullable(),
});
export const stopAnswer = z.object({ stopped: z.boolean() });

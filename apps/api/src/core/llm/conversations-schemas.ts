import { conversationKind, dataMemoryPart, type FilePart, type MessagePart, toolPart } from '@app/conversations';
import { exposed, flagText, jsonValue, listQuery, presenter } from '@app/http';
import { isErased, nameSchema, textSchema } from '@app/kernel';
import { invocationUsage } from '@app/models';
import { type ConversationRow, conversationRow } from '@projections/conversations';
import { type MessageRow, messageRow } from '@projections/messages';
import { z } from 'zod';
import { chunkPosition } from '../knowledge/documents-schemas';

/** Where conversations with an Agent are. */
export const CONVERSATIONS = '/api/v1/core/llm/:agentId/conversation';

const words = textSchema(1_000_000).refine((text) => text.trim() !== '', { message: 'must not be empty' });
const textPart = z.strictObject({
  type: z.literal('text').describe('The kind of part.'),
  text: words.describe('The text.'),
});

/** Most files of one question. */
const MOST_FILES = 10;

/** Where the bytes of an attached file are read. */
export const fileUrl = (agentId: string, fileId: string): string =>
  `/api/v1/core/llm/${agentId}/files/${fileId}/content`;
const FILE_URL = /^\/api\/v1\/core\/llm\/[0-9a-f-]{36}\/files\/([0-9a-f-]{36})\/content$/;
/** The file that such an address names. */
export const fileIdIn = (url: string): string | undefined => FILE_URL.exec(url)?.[1];

const sentFile = z.strictObject({
  type: z.literal('file').describe('The kind of part.'),
  mediaType: z
    .string()
    .max(200)
    .optional()
    .describe('The media type of the file; needed with `url`. The actual content decides.'),
  filename: nameSchema(500).optional().describe('Its name, with `url`.'),
  fileId: z.uuid().optional().describe('The id of an uploaded file.'),
  url: z
    .string()
    .refine((url) => url.startsWith('data:') || FILE_URL.test(url), {
      message: 'must be a data URL, or the `url` of a file part of a message',
    })
    .optional()
    .describe('The file as a data URL, base64, or the `url` that a message shows; instead of `fileId`.'),
});

export const newTurn = z.strictObject({
  conversationId: z.uuid().optional().describe('The conversation to continue. By default, a new one.'),
  message: z
    .union([
      words,
      z.strictObject({
        role: z.string().max(50).optional().describe('`user`, or absent.'),
        parts: z
          .array(z.discriminatedUnion('type', [textPart, sentFile]))
          .min(1)
          .max(1_000)
          .refine((sent) => sent.filter(({ type }) => type === 'file').length <= MOST_FILES, {
            message: `must hold at most ${MOST_FILES} files`,
          })
          .describe('The content, with at most 10 files.'),
      }),
    ])
    .describe('The content: text, or a list of parts.'),
  parentId: z
    .uuid()
    .nullable()
    .optional()
    .describe('The message to reply to; other replies to it are kept. Null for none; by default, the last message.'),
  kind: z
    .enum(['normal', 'private', 'incognito'])
    .optional()
    .describe(
      'How a new conversation is kept. `incognito`: only in the memory of one process. An existing one must be of this kind.',
    ),
  stream: z.boolean().default(false).describe('Answers as Server-Sent Events.'),
});

export const regeneration = z.strictObject({
  model: z.string().max(200).optional().describe("A chat model. By default, the Agent's own."),
  stream: z.boolean().default(false).describe('Answers as Server-Sent Events.'),
});

export const feedback = z.strictObject({
  rating: z.enum(['up', 'down']).nullable().describe('Your rating; null withdraws it.'),
  comment: textSchema(2_000).optional().describe('Why.'),
});

export const conversationUpdate = z
  .strictObject({
    title: nameSchema(500).describe('Its title.'),
    archived: z.boolean().describe('Whether it is archived.'),
  })
  .partial();

export const deletionQuery = z.strictObject({
  memories: flagText.default(false).describe('Also deletes the memories learned in it.'),
});

export const conversationsQuery = listQuery({
  archived: flagText.default(false).describe('Archived conversations instead of the others.'),
  kind: conversationKind.optional().describe('Only conversations of this kind.'),
  q: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Only conversations whose title contains this text, or with a message that contains all its words, in German or English.',
    ),
});
export const messagesQuery = listQuery({});
const answerId = z.uuid().optional().describe('The id of the answer. By default, the running one that started last.');
export const stopQuery = z.strictObject({ messageId: answerId });
export const streamQuery = z.strictObject({
  messageId: answerId,
  after: z.string().min(1).max(100).optional().describe('The id of the last event that was received.'),
});

/** A conversation of the view, or one in memory. */
type ShownConversation = Omit<ConversationRow, 'kind' | 'titleOf'> & {
  readonly kind: ConversationRow['kind'] | 'incognito';
};

export const conversationView = presenter<ShownConversation>(
  'Conversation',
  exposed(conversationRow, {
    id: true,
    agentId: 'The Agent that answers.',
    userId: 'The user it belongs to.',
    title: 'Its title.',
    kind: 'How it is kept.',
    archived: 'Whether it is archived.',
    messageCount: 'The number of messages.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }).extend({
    kind: newTurn.shape.kind.unwrap().describe('How it is kept. `incognito`: only in memory.'),
    codeExecution: z.null().describe('The state of its code execution; null for none.'),
  }),
  (row) => ({ ...row, codeExecution: null }),
);

/** A summary beside a source. */
export const shownSummary = z
  .object({
    id: z.string().describe('The id of the summary.'),
    level: z.number().int().describe('Its level; level 1 summarises only chunks.'),
    text: z.string().describe('The text, written by a model. Cite the source instead.'),
  })
  .meta({ id: 'SectionSummary' });

/** The members of every kind of part in one, since a view class exposes by name. */
const shownPart = z.object({
  type: z
    .string()
    .describe(
      'The kind of part: `text`, `file`, `reasoning`, `step-start`, `source-document`, `data-memory`, or `tool-` and the name of the tool.',
    ),
  text: z.string().optional().describe('The text of a `text` or `reasoning` part.'),
  toolCallId: z
    .string()
    .optional()
    .describe('The id of the call. This and the fields up to `approval` are for `tool-` parts.'),
  state: toolPart.shape.state.optional().describe('The state of the call.'),
  input: jsonValue.optional().describe('The input of the tool.'),
  output: z.string().optional().describe('The output of the tool.'),
  errorText: z.string().optional().describe('Why the call failed.'),
  approval: z
    .object({
      id: z.string().describe('The id of the call.'),
      approved: z.boolean().optional().describe('Whether the user approved.'),
    })
    .optional()
    .describe("For a call that needs the user's approval."),
  data: dataMemoryPart.shape.data
    .optional()
    .describe('For a `data-memory` part: the outcome of a memory that the answer proposed.'),
  fileId: z.string().optional().describe('The id of the file, for `file` parts.'),
  filename: z.string().optional().describe('The name of the file.'),
  url: z.string().optional().describe('Where to download the file: a path of this API.'),
  sourceId: z
    .string()
    .optional()
    .describe('The id of the chunk. This and the fields below are for `source-document` parts.'),
  documentId: z.string().optional().describe('The id of the document.'),
  documentRevision: z.number().int().optional().describe('The revision of the document that was quoted.'),
  chunkHash: z.string().optional().describe('SHA-256 of the chunk.'),
  title: z.string().optional().describe('The name of the document.'),
  mediaType: z.string().optional().describe('The media type of the document, or of the file.'),
  position: chunkPosition.optional().describe('The position of the chunk in the text.'),
  quote: z.string().optional().describe('The quote that supports the answer, verbatim.'),
  deleted: z.literal(true).optional().describe('Present if the document has been deleted since.'),
  summary: shownSummary.optional().describe('The summary of its section, if the Agent includes summaries.'),
});

/** A part in the words of the wire: a call of a tool is of a kind of its own. */
const shownPartOf = (part: MessagePart): object => {
  if (part.type === 'file') {
    const { type, fileId, filename, mediaType, url }: FilePart & { readonly url?: string } = part;
    return { type, fileId, filename, mediaType, ...(url === undefined ? {} : { url }) };
  }
  if (part.type !== 'tool') return part;
  const { toolName, approval, skillId: _, ...call } = part;
  return {
    ...call,
    type: `tool-${toolName}`,
    ...(approval === undefined ? {} : { approval: { id: part.toolCallId, ...approval } }),
  };
};

export const messageView = presenter<MessageRow>(
  'Message',
  exposed(messageRow, {
    id: true,
    conversationId: 'The conversation it belongs to.',
    parentId: 'The message that it answers, or null.',
    role: 'The role of its author.',
    parts: 'The content.',
    status: 'Whether it is complete.',
    finishReason: 'Why the answer ended.',
    usage: 'The usage of the answer, or null.',
    model: 'The model that answered.',
    degraded: 'Models that did not answer in time. Knowledge was searched without them.',
    channel: 'Where the question came from, if known.',
    feedback: "The user's feedback, or null.",
    createdAt: true,
  }).extend({
    parts: z.array(shownPart).describe('The content.'),
    feedback: z
      .object({
        rating: z.enum(['up', 'down']).describe('`up` or `down`.'),
        comment: z.string().nullable().describe('The comment, or null.'),
      })
      .nullable()
      .describe("The user's feedback, or null."),
  }),
  (row) => (isErased(row.parts) ? row : { ...row, parts: row.parts.map(shownPartOf) }),
);

export const turnAnswer = z
  .object({
    conversationId: z.string().describe('The conversation, new or existing.'),
    message: messageView.schema.describe('The answer.'),
    usage: invocationUsage.nullable().describe('The usage of the answer, or null.'),
  })
  .meta({ id: 'Answer' });
export const stopAnswer = z
  .object({ stopped: z.boolean().describe('Whether an answer was running.') })
  .meta({ id: 'StoppedAnswer' });

export const callResponse = z.strictObject({ approved: z.boolean().describe('Whether the call is approved.') });
export const callResponded = z
  .object({
    messageId: z.string().describe('The answer.'),
    status: z
      .enum(['waiting', 'streaming'])
      .describe('`waiting` for other calls, or `streaming`: follow it at `/stream`.'),
  })
  .meta({ id: 'CallResponded' });

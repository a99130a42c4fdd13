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
  mediaType: z.string().max(200).optional().describe('What the file is; needed with `url`. Its bytes decide.'),
  filename: nameSchema(500).optional().describe('Its name, with `url`.'),
  fileId: z.uuid().optional().describe('A file that was uploaded before.'),
  url: z
    .string()
    .refine((url) => url.startsWith('data:') || FILE_URL.test(url), {
      message: 'must be a data URL, or the `url` of a file part of a message',
    })
    .optional()
    .describe('The file as a data URL, base64; or the `url` that a message shows, in place of `fileId`.'),
});

export const newTurn = z.strictObject({
  conversationId: z.uuid().optional().describe('The conversation that goes on; a new one by default.'),
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
          .describe('What is said, with at most 10 files.'),
      }),
    ])
    .describe('What is said: text, or parts.'),
  parentId: z
    .uuid()
    .nullable()
    .optional()
    .describe('The message that this follows, beside others that do; null for none, the last one by default.'),
  kind: z
    .enum(['normal', 'private', 'incognito'])
    .optional()
    .describe(
      'How a new conversation is kept: `incognito` in the memory of one process, nowhere else. One that goes on must be of this kind.',
    ),
  stream: z.boolean().default(false).describe('Answers as Server-Sent Events.'),
});

export const regeneration = z.strictObject({
  model: z.string().max(200).optional().describe("The key of a chat model; the Agent's own by default."),
  stream: z.boolean().default(false).describe('Answers as Server-Sent Events.'),
});

export const feedback = z.strictObject({
  rating: z.enum(['up', 'down']).nullable().describe('What you think of it; null takes it back.'),
  comment: textSchema(2_000).optional().describe('Why.'),
});

export const conversationUpdate = z
  .strictObject({
    title: nameSchema(500).describe('Its title.'),
    archived: z.boolean().describe('Whether it is archived.'),
  })
  .partial();

export const deletionQuery = z.strictObject({
  memories: flagText.default(false).describe('Whether what was learned in it is deleted too.'),
});

export const conversationsQuery = listQuery({
  archived: flagText.default(false).describe('Archived conversations rather than the others.'),
  kind: conversationKind.optional().describe('Only conversations of this kind.'),
  q: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Only conversations whose title holds this, or with a message that has all its words, in German or English.',
    ),
});
export const messagesQuery = listQuery({});
const answerId = z.uuid().optional().describe('The answer; by default the one under way that was begun last.');
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
    userId: 'Whose conversation it is.',
    title: 'Its title.',
    kind: 'How it is kept.',
    archived: 'Whether it is archived.',
    messageCount: 'How many messages it has.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }).extend({
    kind: newTurn.shape.kind.unwrap().describe('How it is kept; `incognito` in memory alone.'),
    codeExecution: z.null().describe('The state of its code execution; null: there is none.'),
  }),
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
  type: z
    .string()
    .describe(
      'The kind of part: `text`, `file`, `reasoning`, `step-start`, `source-document`, `data-memory`, or `tool-` and the name of the tool.',
    ),
  text: z.string().optional().describe('The text; of a `text` or `reasoning` part.'),
  toolCallId: z.string().optional().describe('The id of the call; as all up to `approval`, of a `tool-` part.'),
  state: toolPart.shape.state.optional().describe('How far the call has come.'),
  input: jsonValue.optional().describe('What the tool was called with.'),
  output: z.string().optional().describe('What it gave.'),
  errorText: z.string().optional().describe('Why it gave nothing.'),
  approval: z
    .object({
      id: z.string().describe('The id of the call.'),
      approved: z.boolean().optional().describe('What the user answered.'),
    })
    .optional()
    .describe('Of a call that the user must approve.'),
  data: dataMemoryPart.shape.data
    .optional()
    .describe('Of a `data-memory` part: what became of a memory that the answer proposed.'),
  fileId: z.string().optional().describe('The id of the file; of a `file` part.'),
  filename: z.string().optional().describe('The name of the file.'),
  url: z.string().optional().describe('Where its bytes are read: a path of this API.'),
  sourceId: z.string().optional().describe('The id of the chunk; as all below, of a `source-document` part.'),
  documentId: z.string().optional().describe('The id of the document.'),
  documentRevision: z.number().int().optional().describe('The revision of the document that was quoted.'),
  chunkHash: z.string().optional().describe('SHA-256 of the chunk.'),
  title: z.string().optional().describe('The name of the document.'),
  mediaType: z.string().optional().describe('The media type of the document, or of the file.'),
  position: chunkPosition.optional().describe('Where the chunk stands in the text.'),
  quote: z.string().optional().describe('What supports the answer, verbatim.'),
  deleted: z.literal(true).optional().describe('Present where the document was deleted since.'),
  summary: shownSummary
    .optional()
    .describe('The summary of the section that it stands in, if the Agent includes them.'),
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
    conversationId: 'The conversation that it belongs to.',
    parentId: 'The message that it answers, or null.',
    role: 'Who says it.',
    parts: 'What is said.',
    status: 'Whether it is whole.',
    finishReason: 'Why the answer ended.',
    usage: 'What the answer took, or null.',
    model: 'The model that answered.',
    degraded: 'Models that did not answer in time, without which Knowledge was searched.',
    channel: 'Where the question came from, where that is known.',
    feedback: 'What its user thinks of it, or null.',
    createdAt: true,
  }).extend({
    parts: z.array(shownPart).describe('What is said.'),
    feedback: z
      .object({
        rating: z.enum(['up', 'down']).describe('Up or down.'),
        comment: z.string().nullable().describe('Why, or null.'),
      })
      .nullable()
      .describe('What its user thinks of it, or null.'),
  }),
  (row) => (isErased(row.parts) ? row : { ...row, parts: row.parts.map(shownPartOf) }),
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

export const callResponse = z.strictObject({ approved: z.boolean().describe('Whether the call may be made.') });
export const callResponded = z
  .object({
    messageId: z.string().describe('The answer.'),
    status: z
      .enum(['waiting', 'streaming'])
      .describe('Whether it waits for other calls, or goes on: follow it at `/stream`.'),
  })
  .meta({ id: 'CallResponded' });

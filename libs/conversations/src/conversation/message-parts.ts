import { placeFields, type Sensitive, textSchema } from '@app/kernel';
import { z } from 'zod';

const text = (max = 4_000_000) => textSchema(max);

export const textPart = z.strictObject({ type: z.literal('text'), text: text() });

/** How large an image is, pixels. */
export const imageSize = z.strictObject({ width: z.number().int().positive(), height: z.number().int().positive() });

/** A file that the user attached. Its bytes are under the key of the file, its text here under that of the message. */
export const filePart = z.strictObject({
  type: z.literal('file'),
  fileId: z.uuid(),
  filename: text(500),
  mediaType: z.string(),
  /** Of an image that says it, pixels. */
  size: imageSize.exactOptional(),
  /** The extracted text, or its beginning if it is long; absent if there is none. */
  text: text().exactOptional(),
});

/** What a model thinks before it answers, as far as its provider shows it. */
export const reasoningPart = z.strictObject({ type: z.literal('reasoning'), text: text() });

/** A further call of the model begins: each step but the first. */
export const stepStartPart = z.strictObject({ type: z.literal('step-start') });

/** A call of a tool with how far it has come; the states are those of the AI SDK. */
export const toolPart = z.strictObject({
  type: z.literal('tool'),
  toolName: text(256),
  /** Names the call within its message. */
  toolCallId: z.string(),
  state: z.enum([
    'input-available',
    'approval-requested',
    'approval-responded',
    'output-available',
    'output-error',
    'output-denied',
  ]),
  /** JSON; the text itself where it cannot be parsed. */
  input: z.json(),
  output: text().exactOptional(),
  errorText: text().exactOptional(),
  /** The Skill that the call loaded: no message holds its text. */
  skillId: z.string().exactOptional(),
  /** Of a call that its user must approve; `approved` once there is an answer. */
  approval: z.strictObject({ approved: z.boolean().exactOptional() }).exactOptional(),
});

/** A memory that the answer proposed, and what became of it then. */
export const dataMemoryPart = z.strictObject({
  type: z.literal('data-memory'),
  data: z.strictObject({
    memoryId: z.string().exactOptional().describe('The id of the memory, if it is kept.'),
    status: z.enum(['proposed', 'saved', 'flagged', 'refused']).describe('Its outcome.'),
    kind: z
      .enum(['personal', 'shared'])
      .describe('`personal`: only for the user. `shared`: for everybody who uses the Agent.'),
    message: text(1_000).exactOptional().describe('The message for the user.'),
  }),
});

/** A source that the answer cites: what it said, pinned by hash and revision (wire, Message). */
export const sourceDocumentPart = z.strictObject({
  type: z.literal('source-document'),
  sourceId: z.string(),
  documentId: z.uuid(),
  /** Revision of the document at which the passage was indexed: `indexedRevision` of the document then. */
  documentRevision: z.number().int().nonnegative(),
  /** SHA-256 of the passage's text, hex. */
  chunkHash: z.string(),
  title: text(),
  mediaType: z.string(),
  /** Character offsets in the document's extracted text. */
  position: z.strictObject({
    start: z.number().int(),
    end: z.number().int(),
    ...placeFields,
    heading: text().exactOptional(),
  }),
  quote: text(),
});

export const messagePart = z.discriminatedUnion('type', [
  textPart,
  filePart,
  reasoningPart,
  stepStartPart,
  toolPart,
  dataMemoryPart,
  sourceDocumentPart,
]);

/** Words of a message. */
export type TextPart = z.output<typeof textPart>;
export type FilePart = z.output<typeof filePart>;
/** What a question may hold. */
export type QuestionPart = TextPart | FilePart;
export type ReasoningPart = z.output<typeof reasoningPart>;
export type ToolPart = z.output<typeof toolPart>;
export type DataMemoryPart = z.output<typeof dataMemoryPart>;
export type SourceDocumentPart = z.output<typeof sourceDocumentPart>;
/** One part of a message, in the terms of the AI SDK. */
export type MessagePart = z.output<typeof messagePart>;

/** The text of a message, its parts joined by empty lines. */
export const textOf = (parts: readonly MessagePart[]): string =>
  parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n\n');

/** The parts of an `AssistantMessageContinued`, of its first schema too. */
export const continuedParts = ({
  parts,
  text,
}: {
  readonly parts?: Sensitive<readonly MessagePart[]>;
  readonly text?: Sensitive<string>;
}): Sensitive<readonly MessagePart[]> =>
  parts ?? (typeof text === 'object' ? text : [{ type: 'text', text: text ?? '' }]);

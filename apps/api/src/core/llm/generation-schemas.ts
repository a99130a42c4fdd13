import { faultOfSchema } from '@app/conversations';
import { presenter, rejecting } from '@app/http';
import { textSchema } from '@app/kernel';
import { invocationUsage, type JsonSchema } from '@app/models';
import { z } from 'zod';
import { chunkPosition } from '../knowledge/documents-schemas';
import { shownSummary } from './conversations-schemas';

const words = textSchema(1_000_000).refine((text) => text.trim() !== '', { message: 'must not be empty' });
const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text').describe('The kind of part.'), text: words.describe('The text.') }),
  z.strictObject({
    type: z.literal('file').describe('The kind of part.'),
    fileId: z
      .uuid()
      .optional()
      .describe('The id of a file that you uploaded for this Agent (`POST .../files`), instead of `url`.'),
    mediaType: z
      .enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])
      .optional()
      .describe('The media type of the image; needed with `url`.'),
    url: z.string().startsWith('data:', 'must be a data URL').optional().describe('An image as a data URL, base64.'),
    filename: textSchema(255).optional().describe('Its name, with `url`.'),
  }),
]);
const ROLES: ReadonlySet<string> = new Set(['user', 'assistant']);
const message = z.strictObject({
  // However it is written, and whatever else such a message has: what is neither of the two could be read as the Agent's instructions upstream.
  role: z
    .string()
    .max(50)
    .refine((role) => ROLES.has(role), rejecting('system_message_not_allowed'))
    .describe('`user` or `assistant`.'),
  content: z
    .union([words, z.array(part).min(1).max(1_000)])
    .describe('The content: text, or a list of parts. Only the user can send images.'),
});

/** Most files that a request names by their ids. */
const MOST_FILES = 10;
const fileIdsIn = (messages: readonly z.output<typeof message>[]): number =>
  messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter((each) => each.type === 'file' && each.fileId !== undefined).length;

/** What every generation takes. */
const generation = {
  model: z.string().min(1).max(200).optional().describe('A model that the Agent can use. By default, its own.'),
  prompt: words.optional().describe('The question, instead of `messages`.'),
  messages: z
    .array(message)
    .min(1)
    .max(10_000)
    .refine((given) => fileIdsIn(given) <= MOST_FILES, {
      message: `must name at most ${MOST_FILES} files by their ids`,
    })
    .optional()
    .describe('The messages, oldest first. The last one must be from the user. At most 10 files by id.'),
  conversationId: z
    .uuid()
    .optional()
    .describe('One of your conversations with this Agent. Its messages come first. Nothing is added to it.'),
  temperature: z.number().min(0).max(2).optional().describe('Sampling temperature.'),
  topP: z.number().min(0).max(1).optional().describe('Nucleus sampling (top-p).'),
  topK: z.number().int().min(1).max(1_000).optional().describe('Sampling from the most likely tokens (top-k).'),
  maxOutputTokens: z.number().int().min(1).max(10_000_000).optional().describe('Maximum tokens of the answer.'),
  stopSequences: z
    .array(textSchema(200).refine((text) => text !== '', { message: 'must not be empty' }))
    .max(16)
    .optional()
    .describe('Stop sequences: the answer ends before the first of these.'),
  seed: z.number().int().optional().describe('The same seed can give the same answer.'),
  useKnowledge: z.boolean().optional().describe('Searches Knowledge. By default, if it is turned on for the Agent.'),
};
const ONE_OF_BOTH = { message: 'must have either `prompt` or `messages`' };
const hasOne = ({ prompt, messages }: { prompt?: unknown; messages?: unknown }): boolean =>
  (prompt === undefined) !== (messages === undefined);

export const textRequest = z.strictObject(generation).refine(hasOne, ONE_OF_BOTH);

export const objectRequest = z
  .strictObject({
    ...generation,
    schema: z
      .record(z.string(), z.unknown())
      .superRefine((schema, context) => {
        const fault = faultOfSchema(schema as JsonSchema);
        if (fault !== undefined) context.addIssue({ code: 'custom', path: [...fault.path], message: fault.message });
      })
      .describe(
        'The JSON Schema of the object: at most 256 KiB and 64 levels deep, without recursion or remote references.',
      ),
    schemaName: z
      .string()
      .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
      .optional()
      .describe('A name for the object.'),
  })
  .refine(hasOne, ONE_OF_BOTH);

export type GenerationFields = z.output<typeof textRequest>;

const shownSource = z
  .object({
    type: z.literal('source-document').describe('The kind of part.'),
    sourceId: z.string().describe('The id of the chunk.'),
    documentId: z.string().describe('The id of the document.'),
    documentRevision: z.number().int().describe('The revision of the document that was quoted.'),
    chunkHash: z.string().describe('SHA-256 of the chunk.'),
    title: z.string().describe('The name of the document.'),
    mediaType: z.string().describe('The media type of the document.'),
    position: chunkPosition.describe('The position of the chunk in the text.'),
    quote: z.string().describe('The quote that supports the answer, verbatim.'),
    summary: shownSummary.optional().describe('The summary of its section, if the Agent includes summaries.'),
  })
  .meta({ id: 'Source' });

/** What every answer has. */
const answered = {
  finishReason: z
    .enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'])
    .describe('Why the answer ended.'),
  usage: invocationUsage.describe('Its usage.'),
  model: z.string().describe('The id of the model that answered.'),
  invocationId: z.string().describe('The id of the call in the usage records.'),
};

export const generatedText = presenter(
  'GeneratedText',
  z.object({
    reasoningText: z.string().optional().describe("The model's reasoning, if its provider returns it."),
    text: z.string().describe('The text. It cites sources as `[1]`, `[2]`, in order of first use.'),
    sources: z.array(shownSource).describe('The sources that it cites.'),
    ...answered,
  }),
);

const described = { sources: z.array(shownSource).describe('The sources given to the model.'), ...answered };
/** All but the object, which is shown as it is. */
export const generatedObject = presenter('GeneratedObject', z.object(described));
export const generatedObjectSchema = z
  .object({ object: z.unknown().describe('The object, valid under the schema.'), ...described })
  .meta({ id: 'GeneratedObject' });

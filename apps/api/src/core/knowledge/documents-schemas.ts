import { exposed, flagText, listQuery, presenter, withFile, withFiles } from '@app/http';
import { nameSchema, placeFields, textSchema } from '@app/kernel';
import { documentScope, failureMessage, ingestionStep, MAX_CHUNK_TEXT, MOST_TAGS } from '@app/knowledge';
import { type DocumentLogRow, documentLogRow } from '@projections/document-logs';
import { type DocumentRow, documentRow } from '@projections/documents';
import { z } from 'zod';

/** Longest inline content, characters; the body's own limit is 32 MiB. */
const MAX_INLINE = 32 * 1024 ** 2;

export const documentName = nameSchema(500);
export const tagIds = z.array(z.uuid()).max(MOST_TAGS);
/** Kept without parameters: events hold it in clear, and a parameter may be the name of a file. */
const mimeType = z
  .string()
  .max(200)
  .regex(/^[\w.+-]+\/[\w.+-]+(?:\s*;.*)?$/, 'must be a media type')
  .transform((type) => type.replace(/\s*;.*$/, '').toLowerCase());
const content = textSchema(MAX_INLINE);

export const newInlineDocument = z.strictObject({
  name: documentName.describe('Its name.'),
  content: content.describe('Its text.'),
  mimeType: mimeType.describe('The media type of its text.'),
  scope: documentScope.default('agent').describe('Who searches it: the Agent, its Space, or all.'),
  tagIds: tagIds.default([]).describe('The tags that it carries.'),
});

export type NewDocument = z.output<typeof newInlineDocument>;

export const uploadedDocuments = withFiles(
  z.strictObject({
    scope: newInlineDocument.shape.scope,
    name: documentName.optional().describe('Its name, in place of that of the file.'),
    tagIds: newInlineDocument.shape.tagIds,
  }),
  'The files, a document each. The media type of the part is that of the document.',
);
export type UploadFields = z.output<typeof uploadedDocuments.fields>;

const ENABLED = 'Whether it answers. A disabled document keeps its status, and nothing of it is searched.';
export const documentUpdate = z
  .strictObject({
    name: documentName.describe('Its name.'),
    tagIds: tagIds.describe('The tags that it carries.'),
    enabled: z.boolean().describe(ENABLED),
    content: content.describe('Its new text.'),
    mimeType: mimeType.describe('The media type of the new text.'),
  })
  .partial()
  .refine((change) => change.mimeType === undefined || change.content !== undefined, {
    path: ['mimeType'],
    message: 'Comes with content only.',
  });

export const replacedContent = withFile(
  z.strictObject({
    name: documentUpdate.shape.name,
    tagIds: documentUpdate.shape.tagIds,
    enabled: flagText.optional().describe(ENABLED),
  }),
  'The new content. The media type of the part is that of the document.',
);

export const reprocessing = z.strictObject({
  force: z.boolean().default(false).describe('Also where nothing would change.'),
});

export const documentsQuery = listQuery({
  status: documentRow.shape.status.optional().describe('Only documents with this status.'),
  tagId: z.uuid().optional().describe('Only documents that carry this tag.'),
  scope: documentScope.optional().describe('Only documents of this scope.'),
  q: z.string().min(1).max(200).optional().describe('Only documents whose name holds this.'),
});

const statusDetail = z.object({
  code: z.string().describe('Why; stable.'),
  message: z.string().describe('Why, in words.'),
  step: ingestionStep.describe('The step of ingestion.'),
  attempt: z.number().int().describe('The attempt that it was.'),
});
const shownTag = z.object({
  id: z.string().describe('The id of the tag.'),
  name: documentRow.shape.name.describe('Its name.'),
  color: z.string().describe('Its colour, #RRGGBB.'),
});

/** A document as it is shown, without its tags, which change by themselves. */
export const documentView = presenter<DocumentRow>(
  'Document',
  exposed(documentRow, {
    id: true,
    name: 'Its name.',
    mimeType: 'Its media type.',
    sizeBytes: 'Its size in bytes.',
    contentHash: 'SHA-256 of its bytes, hexadecimal.',
    provider: 'How it came here.',
    scope: 'Who searches it: the Agent, its Space, or all.',
    status: 'Where its ingestion stands.',
    chunkCount: 'How many chunks are searched.',
    tokenCount: 'How many tokens they have.',
    indexedRevision: 'The revision whose content is searched; null until there is one.',
    createdAt: true,
    lastModified: 'When it was changed last, ISO 8601 in UTC.',
    revision: true,
  }).extend({
    enabled: z.boolean().describe('Whether it answers. Nothing of a disabled document is searched.'),
    spaceId: z.string().optional().describe('The Space that it belongs to; absent for a global one.'),
    agentId: z.string().optional().describe('The Agent that it belongs to, where its scope is the Agent.'),
    statusDetail: statusDetail.optional().describe('Why its ingestion failed, or waits to be tried again.'),
  }),
  ({ failure, spaceId, agentId, disabled, ...row }) => ({
    ...row,
    enabled: disabled !== true,
    ...(spaceId === null ? {} : { spaceId }),
    ...(agentId === null ? {} : { agentId }),
    ...(failure === null ? {} : { statusDetail: { ...failure, message: failureMessage(failure.code) } }),
  }),
);

export const shownDocument = documentView.schema
  .extend({ tags: z.array(shownTag).describe('The tags that it carries.') })
  .meta({ id: 'Document' });
/** A document in the answer to a write. */
export const writtenDocument = shownDocument
  .extend({ unchanged: z.literal(true).optional().describe('The write changed nothing.') })
  .meta({ id: 'WrittenDocument' });
export const createdDocument = shownDocument
  .extend({
    sameName: z
      .array(z.string())
      .describe('The ids of other documents that have this name in this place, newest first; at most 100.'),
  })
  .meta({ id: 'CreatedDocument' });
/** One is the answer to JSON, many to files. */
export const createdDocuments = z
  .union([
    createdDocument,
    z
      .object({ items: z.array(createdDocument).describe('A document for each file, in their order.') })
      .meta({ id: 'CreatedDocuments', description: 'The answer to files.' }),
  ])
  .meta({ id: 'CreateDocumentAnswer', description: 'The document that came as JSON, or those that came as files.' });
export const shownDocuments = z.object({ items: z.array(shownDocument) });
export const documentContent = z
  .object({
    documentId: z.string().describe('The id of the document.'),
    text: z.string().nullable().describe('The extracted text; null until it is extracted.'),
  })
  .meta({ id: 'DocumentContent' });

/** Where a chunk stands in the text of its document. */
export const chunkPosition = z.object({
  start: z.number().int().describe('The first character.'),
  end: z.number().int().describe('The character behind the last.'),
  ...placeFields,
  heading: z.string().optional().describe('The heading above it.'),
});

export const chunkView = z
  .object({
    id: z.string().describe('The id of the chunk.'),
    ordinal: z.number().int().describe('Its place among the chunks.'),
    text: z.string().describe('Its text.'),
    position: chunkPosition.describe('Where it stands in the text.'),
    enabled: z.boolean().describe('Whether it is searched.'),
    edited: z.boolean().describe('Whether its text was edited, and is not that of the content.'),
  })
  .meta({ id: 'DocumentChunk' });

/** A chunk in the answer to a write. */
export const writtenChunk = chunkView
  .extend({ unchanged: z.literal(true).optional().describe('The write changed nothing.') })
  .meta({ id: 'WrittenChunk' });
export const chunkUpdate = z
  .strictObject({
    text: textSchema(MAX_CHUNK_TEXT)
      .refine((text) => text.trim() !== '', { message: 'must not be empty' })
      .describe('Its new text. It stays until the content has another chunk in its place.'),
    enabled: z.boolean().describe('Whether it is searched.'),
  })
  .partial();

export const documentLogView = presenter<DocumentLogRow>(
  'DocumentLog',
  exposed(documentLogRow, {
    at: 'When it happened, ISO 8601 in UTC.',
    event: 'What happened.',
    attempt: 'The attempt that it belongs to, where there is one.',
    step: 'The step of ingestion, where there is one.',
    code: 'Why it failed; stable.',
    milliseconds: 'How long the step took.',
    produced: 'How much the step made: characters, chunks or vectors; how many edits were dropped.',
    retryAt: 'When it is tried again, ISO 8601 in UTC.',
  }).extend({ message: z.string().optional().describe('Why it failed, in words.') }),
  (row) => ({
    ...row,
    ...(row.code === null ? {} : { message: failureMessage(row.code) }),
  }),
);
export const runningStep = z.object({
  attempt: z.number().int().describe('The attempt that runs.'),
  step: ingestionStep.describe('The step that runs.'),
  done: z.number().int().describe('How much is done.'),
  total: z.number().int().nullable().describe('How much there is; null where that is not known.'),
  at: z.string().describe('A time, ISO 8601 in UTC.'),
});

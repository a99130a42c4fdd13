import { exposed, flagText, listQuery, presenter, withFile, withFiles } from '@app/http';
import { givenFields, nameSchema, placeFields, placeOf, textSchema } from '@app/kernel';
import { documentScope, failureMessage, ingestionStep, MAX_CHUNK_TEXT, MOST_TAGS } from '@app/knowledge';
import type { StoredPassage } from '@app/search-index';
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
  scope: documentScope.default('agent').describe('Who can search it: the Agent, its Space, or everybody.'),
  tagIds: tagIds.default([]).describe('Its tags.'),
});

export type NewDocument = z.output<typeof newInlineDocument>;

export const uploadedDocuments = withFiles(
  z.strictObject({
    scope: newInlineDocument.shape.scope,
    name: documentName.optional().describe('Its name, instead of the file name.'),
    tagIds: newInlineDocument.shape.tagIds,
  }),
  'The files; each becomes a document. The media type of the part is that of the document.',
);
export type UploadFields = z.output<typeof uploadedDocuments.fields>;

const ENABLED = 'Whether it is searched. A disabled document keeps its status.';
export const documentUpdate = z
  .strictObject({
    name: documentName.describe('Its name.'),
    tagIds: tagIds.describe('Its tags.'),
    enabled: z.boolean().describe(ENABLED),
    content: content.describe('Its new text.'),
    mimeType: mimeType.describe('The media type of the new text.'),
  })
  .partial()
  .refine((change) => change.mimeType === undefined || change.content !== undefined, {
    path: ['mimeType'],
    message: 'Is only allowed with content.',
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
  force: z.boolean().default(false).describe('Ingests it again even if nothing would change.'),
});

export const documentsQuery = listQuery({
  status: documentRow.shape.status.optional().describe('Only documents with this status.'),
  tagId: z.uuid().optional().describe('Only documents with this tag.'),
  scope: documentScope.optional().describe('Only documents of this scope.'),
  q: z.string().min(1).max(200).optional().describe('Only documents whose name contains this text.'),
});

const statusDetail = z.object({
  code: z.string().describe('A stable error code.'),
  message: z.string().describe('A message for people.'),
  step: ingestionStep.describe('The step of ingestion.'),
  attempt: z.number().int().describe('The number of the attempt.'),
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
    provider: 'Where it came from.',
    scope: 'Who can search it: the Agent, its Space, or everybody.',
    status: 'The state of its ingestion.',
    chunkCount: 'The number of searchable chunks.',
    tokenCount: 'The number of tokens in these chunks.',
    indexedRevision: 'The revision whose content is searched; null if none is yet.',
    createdAt: true,
    lastModified: 'When it was last changed, ISO 8601 in UTC.',
    revision: true,
  }).extend({
    enabled: z.boolean().describe('Whether it is searched.'),
    spaceId: z.string().optional().describe('The Space it belongs to; absent for a global document.'),
    agentId: z.string().optional().describe('The Agent it belongs to, if its scope is `agent`.'),
    statusDetail: statusDetail.optional().describe('Why its ingestion failed, or is waiting for a retry.'),
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
  .extend({ tags: z.array(shownTag).describe('Its tags.') })
  .meta({ id: 'Document' });
/** A document in the answer to a write. */
export const writtenDocument = shownDocument
  .extend({ unchanged: z.literal(true).optional().describe('The write changed nothing.') })
  .meta({ id: 'WrittenDocument' });
export const createdDocument = shownDocument
  .extend({
    sameName: z
      .array(z.string())
      .describe('The ids of other documents with this name in the same place, newest first; at most 100.'),
  })
  .meta({ id: 'CreatedDocument' });
/** One is the answer to JSON, many to files. */
export const createdDocuments = z
  .union([
    createdDocument,
    z
      .object({ items: z.array(createdDocument).describe('One document for each file, in the same order.') })
      .meta({ id: 'CreatedDocuments', description: 'The answer to an upload of files.' }),
  ])
  .meta({ id: 'CreateDocumentAnswer', description: 'The document sent as JSON, or those sent as files.' });
export const shownDocuments = z.object({ items: z.array(shownDocument) });
export const documentContent = z
  .object({
    documentId: z.string().describe('The id of the document.'),
    text: z.string().nullable().describe('The extracted text; null until it is extracted.'),
  })
  .meta({ id: 'DocumentContent' });

/** Where a chunk stands in the text of its document. */
export const chunkPosition = z.object({
  start: z.number().int().describe('The offset of the first character.'),
  end: z.number().int().describe('The offset after the last character.'),
  ...placeFields,
  heading: z.string().optional().describe('The heading above it.'),
});

const chunkFields = z.object({
  id: z.string().describe('The id of the chunk.'),
  ordinal: z.number().int().describe('The position of the chunk in the document.'),
  text: z.string().describe('Its text.'),
  position: chunkPosition.describe('Its position in the text.'),
  enabled: z.boolean().describe('Whether it is searched.'),
  edited: z.boolean().describe('Whether its text was edited.'),
});
export const chunkView = presenter<StoredPassage>('DocumentChunk', chunkFields, (passage) => {
  const { chunkId, start, end, headings, edited = false } = passage;
  const position = { start, end, ...placeOf(passage), ...givenFields({ heading: headings.at(-1) }) };
  return { ...passage, id: chunkId, position, edited };
});

/** A chunk in the answer to a write. */
export const writtenChunk = chunkFields
  .extend({ unchanged: z.literal(true).optional().describe('The write changed nothing.') })
  .meta({ id: 'WrittenChunk' });
export const chunkUpdate = z
  .strictObject({
    text: textSchema(MAX_CHUNK_TEXT)
      .refine((text) => text.trim() !== '', { message: 'must not be empty' })
      .describe('Its new text. It is kept until new content changes the chunk.'),
    enabled: z.boolean().describe('Whether it is searched.'),
  })
  .partial();

export const documentLogView = presenter<DocumentLogRow>(
  'DocumentLog',
  exposed(documentLogRow, {
    at: 'When it happened, ISO 8601 in UTC.',
    event: 'What happened.',
    attempt: 'The attempt it belongs to, if any.',
    step: 'The step of ingestion, if any.',
    code: 'Why it failed, as a stable code.',
    milliseconds: 'How long the step took.',
    produced: 'What the step made: the number of characters, chunks or vectors, and of edits that were dropped.',
    retryAt: 'When it will be retried, ISO 8601 in UTC.',
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
  total: z.number().int().nullable().describe('The total; null if not known.'),
  at: z.string().describe('A time, ISO 8601 in UTC.'),
});

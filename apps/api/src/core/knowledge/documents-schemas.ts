import { nameSchema, textSchema } from '@app/kernel';
import { documentScope, failureMessage, ingestionStep } from '@app/knowledge';
import { type DocumentLogRow, documentLogRow } from '@projections/document-logs';
import { type DocumentRow, documentRow } from '@projections/documents';
import { z } from 'zod';
import { listQuery, presenter } from '../../http';

/** Longest inline content, characters; the body's own limit is 32 MiB. */
const MAX_INLINE = 32 * 1024 ** 2;
const MAX_TAGS = 100;

export const documentName = nameSchema(500);
export const tagIds = z.array(z.uuid()).max(MAX_TAGS);
/** Kept without parameters: events hold it in clear, and a parameter may be the name of a file. */
const mimeType = z
  .string()
  .max(200)
  .regex(/^[\w.+-]+\/[\w.+-]+(?:\s*;.*)?$/, 'must be a media type')
  .transform((type) => type.replace(/\s*;.*$/, '').toLowerCase());
const content = textSchema(MAX_INLINE);

export const newInlineDocument = z.strictObject({
  name: documentName,
  content,
  mimeType,
  scope: documentScope.default('agent'),
  tagIds: tagIds.default([]),
});

/** What multipart fields may say beside the files. They stand before the files. */
export const uploadFields = z.strictObject({
  scope: documentScope.default('agent'),
  name: documentName.optional(),
  tagIds: tagIds.default([]),
});
export type UploadFields = z.output<typeof uploadFields>;

export const documentChange = z
  .strictObject({ name: documentName, tagIds, content, mimeType })
  .partial()
  .refine((change) => change.mimeType === undefined || change.content !== undefined, {
    path: ['mimeType'],
    message: 'Comes with content only.',
  });

export const reprocessing = z.strictObject({ force: z.boolean().default(false) });

export const documentsQuery = listQuery({
  status: documentRow.shape.status.optional(),
  tagId: z.uuid().optional(),
  scope: documentScope.optional(),
  q: z.string().min(1).max(200).optional(),
});

const statusDetail = z.object({
  code: z.string(),
  message: z.string(),
  step: ingestionStep,
  attempt: z.number().int(),
});
const shownTag = z.object({ id: z.string(), name: documentRow.shape.name, color: z.string() });

/** A document as it is shown, without its tags, which change by themselves. */
export const documentView = presenter<DocumentRow>(
  documentRow
    .omit({
      place: true,
      file: true,
      text: true,
      passages: true,
      failure: true,
      tagIds: true,
      spaceId: true,
      agentId: true,
    })
    .extend({ spaceId: z.string().optional(), agentId: z.string().optional(), statusDetail: statusDetail.optional() }),
  ({ failure, spaceId, agentId, ...row }) => ({
    ...row,
    ...(spaceId === null ? {} : { spaceId }),
    ...(agentId === null ? {} : { agentId }),
    ...(failure === null ? {} : { statusDetail: { ...failure, message: failureMessage(failure.code) } }),
  }),
);

export const shownDocument = documentView.schema.extend({ tags: z.array(shownTag) });
export const shownDocuments = z.object({ items: z.array(shownDocument) });
export const documentContent = z.object({ documentId: z.string(), text: z.string().nullable() });

export const chunkView = z.object({
  id: z.string(),
  ordinal: z.number().int(),
  text: z.string(),
  position: z.object({
    start: z.number().int(),
    end: z.number().int(),
    page: z.number().int().optional(),
    heading: z.string().optional(),
  }),
  enabled: z.boolean(),
});

export const documentLogView = presenter<DocumentLogRow>(
  documentLogRow.omit({ documentId: true, sequence: true }).extend({ message: z.string().optional() }),
  (row) => ({
    ...row,
    ...(row.code === null ? {} : { message: failureMessage(row.code) }),
  }),
);
export const runningStep = z.object({
  attempt: z.number().int(),
  step: ingestionStep,
  done: z.number().int(),
  total: z.number().int().nullable(),
  at: z.string(),
});

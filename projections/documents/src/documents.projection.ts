import { chunkingSchema, idOf, never, type RecordedEvent, sensitive } from '@app/kernel';
import { documentScope, type DocumentEvent, ingestionStep } from '@app/knowledge';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** A Knowledge document; name and content hash may be erased. */
export const documentRow = z.object({
  id: z.string(),
  name: sensitive(z.string()),
  mimeType: z.string(),
  sizeBytes: z.number().int(),
  contentHash: sensitive(z.string()),
  /** `upload`, `inline`, or `sync:` and the source that it came from. */
  provider: z.string(),
  /** Where it stands in its source. */
  path: sensitive(z.string()).nullable(),
  scope: documentScope,
  spaceId: z.string().nullable(),
  agentId: z.string().nullable(),
  /** `a:<agentId>`, `s:<spaceId>` or `g`: where the document is searched. */
  place: z.string(),
  /** Null: enabled. */
  disabled: z.literal(true).nullable(),
  status: z.enum(['Pending', 'Processing', 'Ready', 'Failed']),
  /** Why the last attempt failed. */
  failure: z.object({ code: z.string(), step: ingestionStep, attempt: z.number().int() }).nullable(),
  tagIds: z.array(z.string()),
  chunkCount: z.number().int(),
  tokenCount: z.number().int(),
  /** What its text was cut by and whose vectors its passages have; null: by default, and none. */
  chunking: chunkingSchema.nullable(),
  embeddingModel: z.string().nullable(),
  /** Blobs of the content, the extracted text and the passages that are searched. */
  file: z.string(),
  text: z.string().nullable(),
  passages: z.string().nullable(),
  /** Revision at which the passages that are searched were indexed: what citations pin. Null before the first. */
  indexedRevision: z.number().int().nullable(),
  createdAt: z.string(),
  lastModified: z.string(),
  revision: z.number().int(),
});
export type DocumentRow = z.output<typeof documentRow>;

/** Documents until they are deleted; those of a deleted Agent or Space are deleted one by one by a policy. */
export const documents: RowProjection = {
  kind: 'rows',
  name: 'documents',
  version: 8,
  perStream: true,
  types: [
    'DocumentAdded',
    'DocumentRenamed',
    'DocumentTagsChanged',
    'DocumentContentReplaced',
    'DocumentReprocessRequested',
    'DocumentProcessingStarted',
    'DocumentExtracted',
    'DocumentChunked',
    'DocumentEmbedded',
    'DocumentIndexed',
    'DocumentReady',
    'DocumentDisabled',
    'DocumentEnabled',
    'DocumentChunkEdited',
    'DocumentRetitled',
    'DocumentAttemptFailed',
    'DocumentProcessingFailed',
    'DocumentReindexEmbedded',
    'DocumentReindexed',
    'DocumentPassagesSwapped',
    'DocumentReindexDiscarded',
    'DocumentDeleted',
  ],
  row: documentRow,
  indexes: [
    { name: 'newest-of-place', fields: [{ field: 'place' }, { field: 'createdAt', order: 'desc' }] },
    {
      name: 'newest-of-place-and-status',
      fields: [{ field: 'place' }, { field: 'status' }, { field: 'createdAt', order: 'desc' }],
    },
    {
      name: 'newest-of-place-and-name',
      fields: [{ field: 'place' }, { field: 'name' }, { field: 'createdAt', order: 'desc' }],
    },
    {
      name: 'newest-of-model-and-place',
      fields: [{ field: 'embeddingModel' }, { field: 'place' }, { field: 'createdAt', order: 'desc' }],
    },
    { name: 'newest', fields: [{ field: 'createdAt', order: 'desc' }] },
    { name: 'of-agent', fields: [{ field: 'agentId' }, { field: 'createdAt', order: 'desc' }] },
    {
      name: 'of-source',
      fields: [{ field: 'agentId' }, { field: 'provider' }, { field: 'createdAt', order: 'desc' }],
    },
    { name: 'of-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] },
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<DocumentEvent>;
    const key = idOf(event.context.stream);
    if (event.type === 'DocumentAdded') return [{ op: 'put', key, row: added(event) }];
    if (event.type === 'DocumentDeleted') return [{ op: 'remove', key }];
    return [{ op: 'patch', key, fields: { ...changed(event), revision: event.context.revision } }];
  },
};

/** Of content that was not read yet. */
const UNREAD = { chunkCount: 0, tokenCount: 0, text: null, passages: null };

const added = ({
  data: { documentId, ...data },
  context: { recordedAt, revision },
}: RecordedEvent<Extract<DocumentEvent, { type: 'DocumentAdded' }>>): DocumentRow => ({
  id: documentId,
  ...data,
  path: data.path ?? null,
  place: placeOf(data),
  disabled: null,
  status: 'Pending',
  failure: null,
  ...UNREAD,
  chunking: null,
  embeddingModel: null,
  indexedRevision: null,
  createdAt: recordedAt,
  lastModified: recordedAt,
  revision,
});

const placeOf = ({ scope, agentId, spaceId }: Pick<DocumentRow, 'scope' | 'agentId' | 'spaceId'>): string => {
  if (scope === 'agent') return `a:${agentId}`;
  return scope === 'space' ? `s:${spaceId}` : 'g';
};

/** What people changed moves `lastModified`; ingestion does not. */
const changed = (
  event: RecordedEvent<Exclude<DocumentEvent, { type: 'DocumentAdded' | 'DocumentDeleted' }>>,
): Partial<DocumentRow> => {
  const lastModified = event.context.recordedAt;
  switch (event.type) {
    case 'DocumentRenamed':
      return { name: event.data.name, lastModified };
    case 'DocumentTagsChanged':
      return { tagIds: event.data.tagIds, lastModified };
    case 'DocumentContentReplaced':
      // What was read of the earlier content is shown no more, even if the new one cannot be read.
      return { ...event.data, ...UNREAD, status: 'Pending', failure: null, lastModified };
    case 'DocumentDisabled':
    case 'DocumentEnabled':
      return { disabled: event.type === 'DocumentDisabled' || null, lastModified };
    case 'DocumentChunkEdited':
      return { passages: event.data.searched.passages, lastModified };
    case 'DocumentRetitled':
      return { passages: event.data.searched.passages };
    default:
      return ingested(event);
  }
};

type Ingesting = Exclude<
  DocumentEvent,
  {
    type:
      | 'DocumentAdded'
      | 'DocumentDeleted'
      | 'DocumentRenamed'
      | 'DocumentTagsChanged'
      | 'DocumentContentReplaced'
      | 'DocumentDisabled'
      | 'DocumentEnabled'
      | 'DocumentChunkEdited'
      | 'DocumentRetitled';
  }
>;

const ingested = (event: RecordedEvent<Ingesting>): Partial<DocumentRow> => {
  switch (event.type) {
    case 'DocumentReprocessRequested':
      return { status: 'Pending', failure: null };
    case 'DocumentProcessingStarted':
      return { status: 'Processing' };
    case 'DocumentExtracted':
    case 'DocumentChunked':
    case 'DocumentEmbedded':
    case 'DocumentReindexEmbedded':
    case 'DocumentReindexed':
    case 'DocumentReindexDiscarded':
      return {};
    case 'DocumentIndexed': {
      const { text, passages, chunkCount, tokenCount, chunking = null, embeddingModel } = event.data;
      const indexedRevision = event.context.revision;
      return { text, passages, chunkCount, tokenCount, chunking, embeddingModel, indexedRevision };
    }
    case 'DocumentPassagesSwapped': {
      const { text, passages, chunkCount, tokenCount, chunking, embeddingModel } = event.data;
      return { text, passages, chunkCount, tokenCount, chunking, embeddingModel };
    }
    case 'DocumentReady':
      return { status: 'Ready', failure: null };
    case 'DocumentAttemptFailed':
    case 'DocumentProcessingFailed': {
      const { code, step, attempt } = event.data;
      return {
        status: event.type === 'DocumentAttemptFailed' ? 'Pending' : 'Failed',
        failure: { code, step, attempt },
      };
    }
    default:
      return never(event);
  }
};

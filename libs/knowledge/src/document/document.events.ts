import {
  chunkingSchema,
  defineEvent,
  type EventsOf,
  heldBlob,
  releasedBlobs,
  sensitive,
  textSchema,
} from '@app/kernel';
import { z } from 'zod';
import {
  documentChunkEdited,
  documentDisabled,
  documentEnabled,
  documentRetitled,
  documentScope,
} from './serving.events';

export { documentScope, type DocumentScope, MAX_CHUNK_TEXT, type Searched } from './serving.events';

/** The steps of ingestion, in order. */
export const ingestionStep = z.enum(['parse', 'chunk', 'embed', 'publish']);
export type IngestionStep = z.output<typeof ingestionStep>;

const id = z.uuid();
const count = z.number().int().nonnegative();
const attemptNumber = z.number().int().positive();
const name = sensitive(textSchema(500));
/** SHA-256 in hex; encrypted, since equal hashes would tell who holds which file. */
const contentHash = sensitive(z.string().min(1));

/** What the text was cut by; null or absent: by default. */
const chunking = chunkingSchema.nullable().optional();

const editsKept = {
  /** The chunks that were edited or disabled by hand before, and are so again. */
  editedChunks: z.array(id).optional(),
  /** How many edits were dropped: their chunks are not in the content any more, or it is cut otherwise. */
  editsDropped: count.optional(),
};

/** How a document came here. */
const provider = z.union([z.enum(['upload', 'inline']), z.templateLiteral(['sync:', z.string()])]);
export type DocumentProvider = z.output<typeof provider>;

/** What a step did: said in the document's log, free of content. */
export const stepReport = z.strictObject({
  step: ingestionStep,
  startedAt: z.iso.datetime(),
  milliseconds: count,
  produced: count,
});
export type StepReport = z.output<typeof stepReport>;

export const documentAdded = defineEvent({
  type: 'DocumentAdded',
  description: 'A document was added for an Agent, a Space or the instance, and waits for ingestion.',
  data: z.strictObject({
    documentId: id,
    scope: documentScope,
    spaceId: id.nullable(),
    agentId: id.nullable(),
    name,
    mimeType: z.string(),
    sizeBytes: count,
    contentHash,
    /** `upload`, `inline`, or `sync:` and the source that it came from, under `path`. */
    provider,
    path: sensitive(textSchema(500)).optional(),
    file: heldBlob(),
    tagIds: z.array(id),
  }),
});

export const documentRenamed = defineEvent({
  type: 'DocumentRenamed',
  description: 'A document was renamed.',
  data: z.strictObject({ name }),
});

export const documentTagsChanged = defineEvent({
  type: 'DocumentTagsChanged',
  description: 'Tags were attached to or detached from a document. `tagIds` lists all its tags from now on.',
  data: z.strictObject({ tagIds: z.array(id), attached: z.array(id), detached: z.array(id) }),
});

export const documentContentReplaced = defineEvent({
  type: 'DocumentContentReplaced',
  description:
    'The content of a document was replaced and waits for ingestion. Searches do not find the document until it is Ready again.',
  data: z.strictObject({ mimeType: z.string(), sizeBytes: count, contentHash, file: heldBlob() }),
});

export const documentReprocessRequested = defineEvent({
  type: 'DocumentReprocessRequested',
  description: 'Reprocessing was requested: the document will be ingested again from its present content.',
  data: z.strictObject({ forced: z.boolean() }),
});

export const documentProcessingStarted = defineEvent({
  type: 'DocumentProcessingStarted',
  description: 'A worker started an attempt at the document. Reports of earlier attempts no longer count.',
  data: z.strictObject({ attempt: attemptNumber }),
});

export const documentExtracted = defineEvent({
  type: 'DocumentExtracted',
  description: 'The text of the document is stored. Later attempts at the same content go on from it.',
  data: z.strictObject({ attempt: attemptNumber, text: heldBlob(), report: stepReport }),
});

export const documentChunked = defineEvent({
  type: 'DocumentChunked',
  description: 'The text was cut into chunks, which are stored. Later attempts at the same content go on from them.',
  data: z.strictObject({
    attempt: attemptNumber,
    chunks: heldBlob(),
    chunkCount: count,
    tokenCount: count,
    chunking,
    report: stepReport,
  }),
});

export const documentEmbedded = defineEvent({
  type: 'DocumentEmbedded',
  description:
    'A batch of passages was embedded and stored with its vectors. Later attempts use the vectors again, unless reprocessing is forced.',
  data: z.strictObject({ attempt: attemptNumber, passages: heldBlob(), count, embeddingModel: z.string() }),
});

export const documentIndexed = defineEvent({
  type: 'DocumentIndexed',
  description: 'All passages with their vectors are stored. The search index reads them from the blob named here.',
  data: z.strictObject({
    attempt: attemptNumber,
    documentId: id,
    scope: documentScope,
    spaceId: id.nullable(),
    agentId: id.nullable(),
    name,
    tagIds: z.array(id),
    text: heldBlob(),
    passages: heldBlob(),
    chunkCount: count,
    tokenCount: count,
    chunking,
    embeddingModel: z.string().nullable(),
    steps: z.array(stepReport),
    /** Only where the document is disabled: the index takes it when it is enabled. */
    enabled: z.literal(false).optional(),
    ...editsKept,
  }),
});

export const documentReady = defineEvent({
  type: 'DocumentReady',
  description: 'The document can be searched. `superseded` names blobs that nothing refers to any more.',
  data: z.strictObject({ attempt: attemptNumber, superseded: releasedBlobs() }),
});

export const documentAttemptFailed = defineEvent({
  type: 'DocumentAttemptFailed',
  description: 'An attempt failed for a temporary reason. The document waits for the next one.',
  data: z.strictObject({
    attempt: attemptNumber,
    step: ingestionStep,
    code: z.string(),
    retryAt: z.iso.datetime(),
  }),
});

export const documentProcessingFailed = defineEvent({
  type: 'DocumentProcessingFailed',
  description: 'Ingestion failed. The document cannot be searched.',
  data: z.strictObject({ attempt: attemptNumber, step: ingestionStep, code: z.string() }),
});

export const documentReindexEmbedded = defineEvent({
  type: 'DocumentReindexEmbedded',
  description: 'A re-index embedded and stored a batch of passages. Searches are not affected.',
  data: z.strictObject({ jobId: id, passages: heldBlob(), count, embeddingModel: z.string() }),
});

export const documentReindexed = defineEvent({
  type: 'DocumentReindexed',
  description:
    'A re-index made new passages of the document. They are on standby until the swap. `of` names the passages that they will replace, `superseded` the blobs that nothing refers to any more. `isEarlier`: these are the passages of before the swap, made again for a rollback because the document was edited or renamed since.',
  data: z.strictObject({
    jobId: id,
    of: z.string(),
    text: heldBlob(),
    passages: heldBlob(),
    chunkCount: count,
    tokenCount: count,
    chunking: chunkingSchema.nullable(),
    embeddingModel: z.string().nullable(),
    isEarlier: z.literal(true).optional(),
    ...editsKept,
    superseded: releasedBlobs(),
  }),
});

export const documentPassagesSwapped = defineEvent({
  type: 'DocumentPassagesSwapped',
  description:
    'Searches use other passages of a document from now on: those of a re-index (`to` is `new`), or those from before it (`earlier`). The replaced ones are kept on standby. `indexedRevision` does not change, because the text does not.',
  data: z.strictObject({
    jobId: id,
    to: z.enum(['new', 'earlier']),
    documentId: id,
    scope: documentScope,
    spaceId: id.nullable(),
    agentId: id.nullable(),
    name,
    tagIds: z.array(id),
    indexedRevision: count,
    text: heldBlob(),
    passages: heldBlob(),
    chunkCount: count,
    tokenCount: count,
    chunking: chunkingSchema.nullable(),
    embeddingModel: z.string().nullable(),
    ...editsKept,
    /** Only where the document is disabled. */
    enabled: z.literal(false).optional(),
  }),
});

export const documentReindexDiscarded = defineEvent({
  type: 'DocumentReindexDiscarded',
  description:
    'The standby passages of a re-index were dropped. `superseded` names their blobs. `keepsBatches`: batches that other work has embedded so far stay.',
  data: z.strictObject({ jobId: id, superseded: releasedBlobs(), keepsBatches: z.literal(true).optional() }),
});

export const documentDeleted = defineEvent({
  type: 'DocumentDeleted',
  description: 'A document was deleted permanently. `tagIds` and `blobs` list its tags and stored bodies.',
  data: z.strictObject({ tagIds: z.array(id), blobs: releasedBlobs() }),
});

export const documentEvents = [
  documentAdded,
  documentRenamed,
  documentTagsChanged,
  documentContentReplaced,
  documentReprocessRequested,
  documentProcessingStarted,
  documentExtracted,
  documentChunked,
  documentEmbedded,
  documentIndexed,
  documentReady,
  documentDisabled,
  documentEnabled,
  documentChunkEdited,
  documentRetitled,
  documentAttemptFailed,
  documentProcessingFailed,
  documentReindexEmbedded,
  documentReindexed,
  documentPassagesSwapped,
  documentReindexDiscarded,
  documentDeleted,
] as const;

export type DocumentEvent = EventsOf<typeof documentEvents>;

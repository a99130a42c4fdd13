import { defineEvent, type EventsOf, heldBlob, releasedBlobs, sensitive, textSchema } from '@app/kernel';
import { z } from 'zod';

/** The level of Knowledge a document belongs to. */
export const documentScope = z.enum(['agent', 'space', 'global']);
export type DocumentScope = z.output<typeof documentScope>;

/** The steps of ingestion, in order. */
export const ingestionStep = z.enum(['parse', 'chunk', 'embed', 'publish']);
export type IngestionStep = z.output<typeof ingestionStep>;

const id = z.uuid();
const count = z.number().int().nonnegative();
const name = sensitive(textSchema(500));
/** SHA-256 in hex; encrypted, since equal hashes would tell who holds which file. */
const contentHash = sensitive(z.string().min(1));

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
  description: 'A document was added to the Knowledge of an Agent, a Space or the instance, and waits for ingestion.',
  data: z.strictObject({
    documentId: id,
    scope: documentScope,
    spaceId: id.nullable(),
    agentId: id.nullable(),
    name,
    mimeType: z.string(),
    sizeBytes: count,
    contentHash,
    provider: z.enum(['upload', 'inline']),
    file: heldBlob(),
    tagIds: z.array(id),
  }),
});

export const documentRenamed = defineEvent({
  type: 'DocumentRenamed',
  description: 'A document got another name.',
  data: z.strictObject({ name }),
});

export const documentTagsChanged = defineEvent({
  type: 'DocumentTagsChanged',
  description: 'Tags were attached to a document or detached from it; `tagIds` is what it carries from now on.',
  data: z.strictObject({ tagIds: z.array(id), attached: z.array(id), detached: z.array(id) }),
});

export const documentContentReplaced = defineEvent({
  type: 'DocumentContentReplaced',
  description:
    'A document got new content and waits for ingestion; the old content stays searchable until the new one is.',
  data: z.strictObject({ mimeType: z.string(), sizeBytes: count, contentHash, file: heldBlob() }),
});

export const documentReprocessRequested = defineEvent({
  type: 'DocumentReprocessRequested',
  description: 'A document shall be ingested again from the content it has.',
  data: z.strictObject({ forced: z.boolean() }),
});

export const documentProcessingStarted = defineEvent({
  type: 'DocumentProcessingStarted',
  description: 'A worker took the document; reports of earlier attempts no longer count.',
  data: z.strictObject({ attempt: z.number().int().positive() }),
});

export const documentIndexed = defineEvent({
  type: 'DocumentIndexed',
  description: 'Text and passages with their vectors are stored; the search index takes them from the blob named here.',
  data: z.strictObject({
    attempt: z.number().int().positive(),
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
    embeddingModel: z.string().nullable(),
    steps: z.array(stepReport),
  }),
});

export const documentReady = defineEvent({
  type: 'DocumentReady',
  description: 'The search index serves the document. `superseded` names blobs that nothing refers to any more.',
  data: z.strictObject({ attempt: z.number().int().positive(), superseded: releasedBlobs() }),
});

export const documentAttemptFailed = defineEvent({
  type: 'DocumentAttemptFailed',
  description: 'An attempt failed for a reason that may pass; the document waits for the next one.',
  data: z.strictObject({
    attempt: z.number().int().positive(),
    step: ingestionStep,
    code: z.string(),
    retryAt: z.iso.datetime(),
  }),
});

export const documentProcessingFailed = defineEvent({
  type: 'DocumentProcessingFailed',
  description: 'Ingestion ended without success; nothing of the document is searchable.',
  data: z.strictObject({ attempt: z.number().int().positive(), step: ingestionStep, code: z.string() }),
});

export const documentDeleted = defineEvent({
  type: 'DocumentDeleted',
  description: 'The document is gone for good. `tagIds` and `blobs` are what it carried and held.',
  data: z.strictObject({ tagIds: z.array(id), blobs: releasedBlobs() }),
});

export const documentEvents = [
  documentAdded,
  documentRenamed,
  documentTagsChanged,
  documentContentReplaced,
  documentReprocessRequested,
  documentProcessingStarted,
  documentIndexed,
  documentReady,
  documentAttemptFailed,
  documentProcessingFailed,
  documentDeleted,
] as const;

export type DocumentEvent = EventsOf<typeof documentEvents>;

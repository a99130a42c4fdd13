import { defineIntegration, type Integrations, integrationEvent } from '@app/kernel';
import { z } from 'zod';
import { type DocumentEvent, documentScope, ingestionStep } from './document.events';

const subject = 'documents';
const documentId = z.uuid();
const attempt = z.number().int().positive();
const count = z.number().int().nonnegative();
const changed = z.enum(['name', 'tags', 'content', 'enabled', 'chunks']);

const created = defineIntegration({
  name: 'document.created',
  version: 1,
  subject,
  description: 'A document was added for an Agent, a Space or the instance, and waits for ingestion.',
  data: z.object({
    documentId,
    scope: documentScope,
    spaceId: z.uuid().nullable(),
    agentId: z.uuid().nullable(),
    sizeBytes: count,
  }),
});
const updated = defineIntegration({
  name: 'document.updated',
  version: 1,
  subject,
  description: 'A document changed: which fields, not their values. New content waits for ingestion.',
  data: z.object({ documentId, changed: z.array(changed) }),
});
const indexed = defineIntegration({
  name: 'document.indexed',
  version: 1,
  subject,
  description: 'A document was split into chunks, which the search index receives next.',
  data: z.object({ documentId, attempt, chunkCount: count, tokenCount: count, embeddingModel: z.string().nullable() }),
});
const ready = defineIntegration({
  name: 'document.ready',
  version: 1,
  subject,
  description: 'The document can be searched.',
  data: z.object({ documentId, attempt }),
});
const failed = defineIntegration({
  name: 'document.failed',
  version: 1,
  subject,
  description: 'Ingestion failed, with the code of the reason. Nothing of the document can be searched.',
  data: z.object({ documentId, attempt, step: ingestionStep, code: z.string() }),
});
const deleted = defineIntegration({
  name: 'document.deleted',
  version: 1,
  subject,
  description: 'A document was deleted permanently.',
  data: z.object({ documentId }),
});

export const documentIntegrations: Integrations<DocumentEvent> = {
  definitions: [created, updated, indexed, ready, failed, deleted],
  mapping: {
    DocumentAdded: ({ scope, spaceId, agentId, sizeBytes }, id) =>
      integrationEvent(created, { documentId: id, scope, spaceId, agentId, sizeBytes }),
    DocumentRenamed: (_, id) => integrationEvent(updated, { documentId: id, changed: ['name'] }),
    DocumentTagsChanged: (_, id) => integrationEvent(updated, { documentId: id, changed: ['tags'] }),
    DocumentContentReplaced: (_, id) => integrationEvent(updated, { documentId: id, changed: ['content'] }),
    DocumentDisabled: (_, id) => integrationEvent(updated, { documentId: id, changed: ['enabled'] }),
    DocumentEnabled: (_, id) => integrationEvent(updated, { documentId: id, changed: ['enabled'] }),
    DocumentChunkEdited: (_, id) => integrationEvent(updated, { documentId: id, changed: ['chunks'] }),
    DocumentIndexed: ({ attempt: number, chunkCount, tokenCount, embeddingModel }, id) =>
      integrationEvent(indexed, { documentId: id, attempt: number, chunkCount, tokenCount, embeddingModel }),
    DocumentReady: ({ attempt: number }, id) => integrationEvent(ready, { documentId: id, attempt: number }),
    DocumentProcessingFailed: ({ attempt: number, step, code }, id) =>
      integrationEvent(failed, { documentId: id, attempt: number, step, code }),
    DocumentDeleted: (_, id) => integrationEvent(deleted, { documentId: id }),
  },
};

import { idOf } from '@app/kernel';
import type { Policy } from '@app/projecting';

/** Offers documents to the worker as soon as they wait. Those it cannot take now stay in the queue view. */
export const ingestWaitingDocuments = (worker: { offer(documentId: string): void }): Policy => ({
  name: 'ingest-waiting-documents',
  types: ['DocumentAdded', 'DocumentContentReplaced', 'DocumentReprocessRequested'],
  react: async ({ context }) => worker.offer(idOf(context.stream)),
});

import { idOf, type RecordedEvent } from '@app/kernel';
import type { DocumentEvent, WaitingDocument } from '@app/knowledge';
import type { RowProjection } from '@app/projecting';
import type { ReadStore, StoredRow } from '@app/read-store';
import { z } from 'zod';

/** A document that is neither Ready nor Failed. */
export const waitingRow = z.object({ documentId: z.string(), notBefore: z.string(), open: z.boolean() });
export type WaitingRow = z.output<typeof waitingRow>;

/** The work of ingestion. A worker finds what is left here after a crash. */
export const ingestionQueue: RowProjection = {
  kind: 'rows',
  name: 'ingestion-queue',
  version: 1,
  perStream: true,
  types: [
    'DocumentAdded',
    'DocumentContentReplaced',
    'DocumentReprocessRequested',
    'DocumentAttemptFailed',
    'DocumentReady',
    'DocumentProcessingFailed',
    'DocumentDeleted',
  ],
  row: waitingRow,
  indexes: [{ name: 'longest-waiting', fields: [{ field: 'open' }, { field: 'notBefore', order: 'asc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<DocumentEvent>;
    const key = idOf(event.context.stream);
    switch (event.type) {
      case 'DocumentReady':
      case 'DocumentProcessingFailed':
      case 'DocumentDeleted':
        return [{ op: 'remove', key }];
      default: {
        const notBefore = event.type === 'DocumentAttemptFailed' ? event.data.retryAt : event.context.recordedAt;
        return [{ op: 'put', key, row: { documentId: key, notBefore, open: true } }];
      }
    }
  },
};

/** Waiting documents, the longest waiting first. */
export const waitingDocuments = async (
  store: Pick<ReadStore, 'find'>,
  limit: number,
): Promise<readonly WaitingDocument[]> => {
  const rows = (await store.find(ingestionQueue.name, {
    where: { open: true },
    orderBy: [{ field: 'notBefore', order: 'asc' }],
    limit,
  })) as readonly StoredRow<WaitingRow>[];
  return rows.map(({ row }) => row);
};

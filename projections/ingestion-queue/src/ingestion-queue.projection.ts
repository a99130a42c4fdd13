import { idOf, type RecordedEvent } from '@app/kernel';
import { requesterOf, type DocumentEvent, type WaitingDocument } from '@app/knowledge';
import type { RowProjection } from '@app/projecting';
import type { FindOptions, ReadStore, StoredRow } from '@app/read-store';
import { z } from 'zod';

/** Whether a document waits for ingestion: it does until it is Ready or Failed. */
export const waitingRow = z.object({
  documentId: z.string(),
  /** Empty for global documents. */
  spaceId: z.string(),
  /** Who asked for its ingestion last. */
  userId: z.string(),
  notBefore: z.string(),
  open: z.boolean(),
});
export type WaitingRow = z.output<typeof waitingRow>;

/** The work of ingestion. A worker finds what is left here after a crash. */
export const ingestionQueue: RowProjection = {
  kind: 'rows',
  name: 'ingestion-queue',
  version: 3,
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
  indexes: [
    {
      name: 'longest-waiting-of-space',
      fields: [{ field: 'open' }, { field: 'spaceId', order: 'asc' }, { field: 'notBefore', order: 'asc' }],
    },
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<DocumentEvent>;
    const key = idOf(event.context.stream);
    switch (event.type) {
      case 'DocumentAdded': {
        const row = {
          documentId: key,
          spaceId: event.data.spaceId ?? '',
          userId: requesterOf(event).userId,
          notBefore: event.context.recordedAt,
          open: true,
        };
        return [{ op: 'put', key, row }];
      }
      case 'DocumentReady':
      case 'DocumentProcessingFailed':
        return [{ op: 'patch', key, fields: { open: false } }];
      case 'DocumentDeleted':
        return [{ op: 'remove', key }];
      case 'DocumentAttemptFailed':
        return [{ op: 'patch', key, fields: { notBefore: event.data.retryAt, open: true } }];
      default: {
        const { userId } = requesterOf(event);
        return [{ op: 'patch', key, fields: { userId, notBefore: event.context.recordedAt, open: true } }];
      }
    }
  },
};

/** Waiting documents read at once: of one Space no more are looked at in a sweep. */
const PAGE = 100;
/** Pages of one sweep; the next begins behind them. */
const PAGES = 50;
/** Sorts behind every time and every key. */
const LAST = '\uffff';

/** Reads the documents of each Space that have waited longest, of all Spaces in turn. */
export class WaitingBySpace {
  private begin: FindOptions['after'];

  constructor(private readonly store: Pick<ReadStore, 'find'>) {}

  async read(): Promise<readonly WaitingDocument[]> {
    const waiting: WaitingDocument[] = [];
    let next = this.begin;
    for (let pages = 0; pages < PAGES; pages += 1) {
      const rows = await this.page(next);
      // A build of an earlier version, which answers until this version's is whole, has no users.
      for (const { row } of rows) {
        const { documentId, spaceId, userId = '', notBefore } = row as Omit<WaitingRow, 'userId'> & Partial<WaitingRow>;
        waiting.push({ documentId, spaceId, userId, notBefore });
      }
      const last = rows.at(-1);
      // Further documents of the last Space would keep the next one waiting.
      next = last && rows.length === PAGE ? { values: [last.row.spaceId, LAST], key: LAST } : undefined;
      if (next === undefined) break;
    }
    this.begin = next;
    return waiting;
  }

  private async page(after: FindOptions['after']): Promise<readonly StoredRow<WaitingRow>[]> {
    return (await this.store.find(ingestionQueue.name, {
      where: { open: true },
      orderBy: [
        { field: 'spaceId', order: 'asc' },
        { field: 'notBefore', order: 'asc' },
      ],
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    })) as readonly StoredRow<WaitingRow>[];
  }
}

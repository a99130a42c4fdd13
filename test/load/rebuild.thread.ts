import { workerData } from 'node:worker_threads';
import { openSqliteLogReader } from '@app/event-log';
import { serveCalls, systemClock } from '@app/kernel';
import { rebuildWorker } from '@app/projecting';
import { openSqliteReadStore } from '@app/read-store';
import { notesCodec, notesView } from './notes';

/** The rebuild thread of the product, for the one view of this benchmark. */
const serve = async ({ log, views }: { readonly log: string; readonly views: string }): Promise<void> => {
  const reader = await openSqliteLogReader({ folder: log });
  const readStore = await openSqliteReadStore({ folder: views, inThread: true });
  const none = {} as Pick<Parameters<typeof rebuildWorker>[0], 'searchIndex' | 'blobs'>;
  const onClose = async (): Promise<void> => {
    await readStore.close();
    await reader.close();
  };
  serveCalls(
    rebuildWorker({
      ...none,
      log: reader,
      readStore,
      codec: notesCodec,
      clock: systemClock,
      projections: [notesView],
      onClose,
    }),
  );
};

void serve(workerData as { log: string; views: string });

import { WAITING_DOCUMENTS, type WaitingDocuments } from '@app/knowledge';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Module } from '@nestjs/common';
import { ingestionQueue, WaitingBySpace } from './ingestion-queue.projection';

const lookUp = (store: ReadStore): WaitingDocuments => {
  const bySpace = new WaitingBySpace(store);
  return () => bySpace.read();
};

/** The view `ingestion-queue`. */
@Module({
  providers: [{ provide: WAITING_DOCUMENTS, inject: [READ_STORE], useFactory: lookUp }],
  exports: [WAITING_DOCUMENTS],
})
export class IngestionQueueViewModule {
  static readonly projections = [ingestionQueue];
}

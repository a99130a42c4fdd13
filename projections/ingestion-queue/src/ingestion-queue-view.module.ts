import { WAITING_DOCUMENTS, type WaitingDocuments } from '@app/knowledge';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Module } from '@nestjs/common';
import { ingestionQueue, waitingDocuments } from './ingestion-queue.projection';

/** Waiting documents looked at in one sweep. */
const SWEPT = 500;

const lookUp =
  (store: ReadStore): WaitingDocuments =>
  () =>
    waitingDocuments(store, SWEPT);

/** The view `ingestion-queue`. */
@Module({
  providers: [{ provide: WAITING_DOCUMENTS, inject: [READ_STORE], useFactory: lookUp }],
  exports: [WAITING_DOCUMENTS],
})
export class IngestionQueueViewModule {
  static readonly projections = [ingestionQueue];
}

export { IngestionQueueViewModule } from './ingestion-queue-view.module';
export { ingestionQueue } from './ingestion-queue.projection';

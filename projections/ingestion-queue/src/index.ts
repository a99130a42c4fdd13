export { IngestionQueueViewModule } from './ingestion-queue-view.module';
export * from './ingestion-queue.projection';

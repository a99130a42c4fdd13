export * from './ingestion-queue.projection';

/** What threads import that build this view. */
export * from './ingestion-queue.projection';

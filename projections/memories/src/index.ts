export { MemoriesViewModule } from './memories-view.module';
export * from './memories.projection';
export * from './queries/get-memory';
export * from './queries/list-memories';

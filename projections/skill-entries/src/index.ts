export * from './entries.projection';
export { EntriesViewModule } from './entries-view.module';
export * from './queries/list-entries';

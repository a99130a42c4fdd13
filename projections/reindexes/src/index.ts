export { ReindexesViewModule } from './reindexes-view.module';
export * from './reindexes.projection';

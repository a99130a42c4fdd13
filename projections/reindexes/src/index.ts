export { ReindexesViewModule } from './reindexes-view.module';
export * from './open-reindexes';
export * from './reindexes.projection';

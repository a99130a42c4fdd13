export { ReindexesViewModule } from './reindexes-view.module';
export { type OpenReindex, openReindexes } from './open-reindexes';
export { OPEN_STATES, reindexes } from './reindexes.projection';

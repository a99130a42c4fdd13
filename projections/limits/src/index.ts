export { LimitsViewModule } from './limits-view.module';
export * from './limits.projection';
export * from './queries/list-limits';

export { LimitsViewModule } from './limits-view.module';
export { limits } from './limits.projection';
export { ListLimits } from './queries/list-limits';

export * from './queries/report-usage';
export * from './spent-in';
export * from './usage-parts';
export { UsageViewModule } from './usage-view.module';
export * from './usage.projection';

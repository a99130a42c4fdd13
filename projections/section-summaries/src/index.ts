export { SectionSummariesViewModule } from './section-summaries-view.module';
export * from './section-summaries.projection';

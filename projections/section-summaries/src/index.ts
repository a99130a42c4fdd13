export { SectionSummariesViewModule } from './section-summaries-view.module';

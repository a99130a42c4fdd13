export { buildFailureMessage } from './building/build-failure';
export { BuildWorker } from './building/build-worker';
export {
  type SummarisedAgent,
  type SourceDocument,
  SUMMARY_SOURCES,
  type SummarySources,
  SUMMARIES_OF,
  type SummariesOf,
  RUNNING_BUILDS,
  type RunningBuilds,
} from './lookups';
export { SectionSummariesModule } from './section-summaries.module';
export type { SectionSummaryEvent } from './section-summary/section-summary.events';
export { type ShownSummary, SummariesBeside } from './showing/summaries-beside';
export { EndBuild } from './summary-index/commands/end-build';
export { StartBuild } from './summary-index/commands/start-build';
export { type ShownIndex, ShownIndexes } from './summary-index/shown-index';
export { buildMode, type SummaryIndexEvent } from './summary-index/summary-index.events';

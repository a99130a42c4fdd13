import { BLOBS } from '@app/blobs';
import { Claims } from '@app/coordination';
import { CLOCK, Decisions, IDS, LOGGER, provideWith } from '@app/kernel';
import { Models } from '@app/models';
import { METERING, SpendingModule } from '@app/spending';
import { Module } from '@nestjs/common';
import { BuildWorker, type BuildWorkerParts } from './building/build-worker';
import { ProgressBoard } from './building/progress';
import { RUNNING_BUILDS, SUMMARY_SOURCES } from './lookups';
import { BuildStartedIndexes } from './policies/build-started-indexes.policy';
import { RemoveSummaries } from './policies/remove-summaries.policy';
import { sectionSummariesAggregates } from './section-summaries.aggregates';
import { SummariesBeside } from './showing/summaries-beside';
import { EndBuildHandler } from './summary-index/commands/end-build';
import { StartBuildHandler } from './summary-index/commands/start-build';
import { Estimates } from './summary-index/estimates';
import { ShownIndexes } from './summary-index/shown-index';

/** Section-summary indexes of Agents. Views provide `SUMMARY_SOURCES`, `SUMMARIES_OF` and `RUNNING_BUILDS`. The worker runs where it is started. */
@Module({
  imports: [SpendingModule],
  providers: [
    StartBuildHandler,
    EndBuildHandler,
    BuildStartedIndexes,
    RemoveSummaries,
    Estimates,
    ShownIndexes,
    SummariesBeside,
    ProgressBoard,
    provideWith(BuildWorker, (parts: BuildWorkerParts) => new BuildWorker(parts), {
      decisions: Decisions,
      blobs: BLOBS,
      models: Models,
      metering: METERING,
      sources: SUMMARY_SOURCES,
      running: RUNNING_BUILDS,
      ids: IDS,
      clock: CLOCK,
      logger: LOGGER,
      claims: Claims,
      progress: ProgressBoard,
    }),
  ],
  exports: [BuildWorker, ShownIndexes, SummariesBeside],
})
export class SectionSummariesModule {
  static readonly aggregates = sectionSummariesAggregates;
}

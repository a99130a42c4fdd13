import { defineAggregate, ownKey } from '@app/kernel';
import { sectionSummaryDecider } from './section-summary/section-summary.decider';
import { sectionSummaryEvents } from './section-summary/section-summary.events';
import { summaryIndexDecider } from './summary-index/summary-index.decider';
import { summaryIndexEvents } from './summary-index/summary-index.events';

const summaryIndexAggregate = defineAggregate(summaryIndexDecider, summaryIndexEvents, {
  erasure: {
    by: { SummaryIndexDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(summaryIndexDecider, id, { type: 'Delete' }, meta),
  },
  kinds: {},
});

const sectionSummaryAggregate = defineAggregate(sectionSummaryDecider, sectionSummaryEvents, {
  erasure: {
    by: { SectionSummaryRemoved: ownKey },
    again: (decisions, id, meta) => decisions.transact(sectionSummaryDecider, id, { type: 'Remove' }, meta),
  },
  kinds: {},
});

export const sectionSummariesAggregates = [summaryIndexAggregate, sectionSummaryAggregate];

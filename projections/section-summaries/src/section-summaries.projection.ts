import { idOf, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { SectionSummaryEvent, SummaryIndexEvent } from '@app/section-summaries';
import { z } from 'zod';

/** A summary that is not removed: whose it is, and the build that made it. What it says stands in its stream alone. */
export const summaryRow = z.object({ summaryId: z.string(), agentId: z.string(), build: z.number().int() });
export type SummaryRow = z.output<typeof summaryRow>;

/** Summaries, of running builds and of such as came to no end too. A policy finds those of an Agent here. */
export const sectionSummaries: RowProjection = {
  kind: 'rows',
  name: 'section-summaries',
  version: 1,
  perStream: true,
  types: ['SectionSummaryAdded', 'SectionSummaryRemoved'],
  row: summaryRow,
  indexes: [{ name: 'of-agent', fields: [{ field: 'agentId' }, { field: 'summaryId', order: 'asc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<SectionSummaryEvent>;
    const key = idOf(event.context.stream);
    if (event.type !== 'SectionSummaryAdded') return [{ op: 'remove', key }];
    const { agentId, build } = event.data;
    return [{ op: 'put', key, row: { summaryId: key, agentId, build } }];
  },
};

/** A document or a summary that a summary is made of directly. */
export const sourceRow = z.object({ sourceId: z.string(), summaryId: z.string() });
export type SourceRow = z.output<typeof sourceRow>;

/** What summaries are made of. A policy finds the summaries of a deleted document here, and what is made of them. */
export const summarySources: RowProjection = {
  kind: 'rows',
  name: 'summary-sources',
  version: 1,
  perStream: true,
  types: ['SectionSummaryAdded', 'SectionSummaryRemoved'],
  row: sourceRow,
  indexes: [
    { name: 'of-source', fields: [{ field: 'sourceId' }, { field: 'summaryId', order: 'asc' }] },
    { name: 'of-summary', fields: [{ field: 'summaryId' }] },
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<SectionSummaryEvent>;
    const summaryId = idOf(event.context.stream);
    if (event.type !== 'SectionSummaryAdded') return [{ op: 'removeWhere', where: { summaryId } }];
    const { documentIds, summaryIds } = event.data;
    return [...documentIds, ...summaryIds].map((sourceId) => ({
      op: 'put' as const,
      key: `${summaryId}/${sourceId}`,
      row: { sourceId, summaryId },
    }));
  },
};

/** Whether the index of an Agent is being built. */
export const buildRow = z.object({ agentId: z.string(), running: z.boolean() });
export type BuildRow = z.output<typeof buildRow>;

/** Builds of summary indexes. A worker finds what is left here after a crash. */
export const summaryBuilds: RowProjection = {
  kind: 'rows',
  name: 'summary-builds',
  version: 1,
  perStream: true,
  types: [
    'SummaryIndexBuildStarted',
    'SummaryIndexBuilt',
    'SummaryIndexBuildCancelled',
    'SummaryIndexBuildFailed',
    'SummaryIndexRemoved',
    'SummaryIndexDeleted',
  ],
  row: buildRow,
  indexes: [{ name: 'running', fields: [{ field: 'running' }, { field: 'agentId', order: 'asc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<SummaryIndexEvent>;
    const key = idOf(event.context.stream);
    if (event.type === 'SummaryIndexDeleted') return [{ op: 'remove', key }];
    return [{ op: 'put', key, row: { agentId: key, running: event.type === 'SummaryIndexBuildStarted' } }];
  },
};

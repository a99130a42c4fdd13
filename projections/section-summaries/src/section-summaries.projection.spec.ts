import { ERASED } from '@app/kernel';
import type { SectionSummaryEvent, SummaryIndexEvent } from '@app/section-summaries';
import { happened, rowsAfter } from '../../../test/fixtures/view';
import { sectionSummaries, summaryBuilds, summarySources } from './section-summaries.projection';

const of = (revision: number, given: SectionSummaryEvent) => happened('sectionSummary-x', revision, given);
const added = of(0, {
  type: 'SectionSummaryAdded',
  data: {
    agentId: 'a',
    spaceId: 's',
    build: 2,
    level: 2,
    documentIds: ['d'],
    summaryIds: ['y', 'z'],
    text: ERASED,
    model: 'local-chat',
  },
});
const removed = of(1, { type: 'SectionSummaryRemoved', data: { agentId: 'a', blobs: [] } });

test('summaries are shown with what they are made of, until they are removed', () => {
  expect(rowsAfter(sectionSummaries, added)).toEqual({ x: { summaryId: 'x', agentId: 'a', build: 2 } });
  expect(rowsAfter(sectionSummaries, added, removed)).toEqual({});
  expect(Object.values(rowsAfter(summarySources, added))).toEqual(
    ['d', 'y', 'z'].map((sourceId) => ({ sourceId, summaryId: 'x' })),
  );
  expect(rowsAfter(summarySources, added, removed)).toEqual({});
});

test('a build runs until it ends, however it does', () => {
  const index = (revision: number, given: SummaryIndexEvent) => happened('summaryIndex-a', revision, given);
  const started = index(0, {
    type: 'SummaryIndexBuildStarted',
    data: {
      agentId: 'a',
      spaceId: 's',
      buildId: 'b',
      build: 1,
      mode: 'build',
      model: 'local-chat',
      estimate: { calls: 1, tokens: 1, cost: '0' },
    },
  });
  expect(rowsAfter(summaryBuilds, started)).toEqual({ a: { agentId: 'a', running: true } });
  const ends: readonly SummaryIndexEvent[] = [
    { type: 'SummaryIndexBuilt', data: { build: 1, hierarchy: 'h', levels: 1, summaries: 1, superseded: [] } },
    { type: 'SummaryIndexBuildCancelled', data: { build: 1 } },
    { type: 'SummaryIndexBuildFailed', data: { build: 1, code: 'internal' } },
    { type: 'SummaryIndexRemoved', data: { agentId: 'a', build: 1, blobs: [] } },
  ];
  for (const end of ends)
    expect(rowsAfter(summaryBuilds, started, index(1, end))).toEqual({ a: { agentId: 'a', running: false } });
  expect(rowsAfter(summaryBuilds, started, index(1, { type: 'SummaryIndexDeleted', data: { blobs: [] } }))).toEqual({});
});

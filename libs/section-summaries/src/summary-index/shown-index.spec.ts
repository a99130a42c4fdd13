import type { Blobs } from '@app/blobs';
import { streamOf } from '@app/kernel';
import { MemoryBlobs } from '../../../../test/fixtures/memory-blobs';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { encodeHierarchy } from '../building/hierarchy';
import { ProgressBoard } from '../building/progress';
import type { PresentSummaries } from '../lookups';
import { sectionSummaryDecider } from '../section-summary/section-summary.decider';
import { sectionSummaryEvents } from '../section-summary/section-summary.events';
import type { Estimates } from './estimates';
import { ShownIndexes } from './shown-index';
import { summaryIndexDecider } from './summary-index.decider';
import { summaryIndexEvents } from './summary-index.events';

const [agentId, spaceId] = [ids.next(), ids.next()];
/** More than are read at once. */
const summaryIds = Array.from({ length: 120 }, () => ids.next());
const [REMOVED = '', SHOWN = ''] = summaryIds;
const estimate = { calls: 1, tokens: 1, cost: '0' };
const estimates: Pick<Estimates, 'of'> = { of: async () => estimate };

/** An index of 120 summaries, one of them removed, of which a view shows what is given. */
const countOf = async (shown: PresentSummaries): Promise<readonly [number, number]> => {
  const { decisions } = decisionsInMemory([...sectionSummaryEvents, ...summaryIndexEvents]);
  const blobs = new MemoryBlobs();
  const model = 'local-chat';
  const start = { type: 'Start', agentId, spaceId, buildId: ids.next(), mode: 'build', model, estimate } as const;
  await decisions.transact(summaryIndexDecider, agentId, start, meta());
  const made = { agentId, spaceId, build: 1, level: 1, documentIds: [], summaryIds: [], text: 'Foxes.', model };
  for (const id of summaryIds) await decisions.transact(sectionSummaryDecider, id, { type: 'Add', ...made }, meta());
  const nodes = summaryIds.map((id) => ({ id, level: 1, children: [], chunks: [] }));
  const body = encodeHierarchy({ documents: {}, passages: {}, nodes });
  const { name: hierarchy } = await blobs.put(streamOf('summaryIndex', agentId), body);
  const complete = { type: 'Complete', build: 1, hierarchy, levels: 1, summaries: nodes.length } as const;
  await decisions.transact(summaryIndexDecider, agentId, complete, meta());
  await decisions.transact(sectionSummaryDecider, REMOVED, { type: 'Remove' }, meta());
  const present = { source: async () => [], agent: async () => [], present: async () => shown };
  const indexes = new ShownIndexes(
    decisions,
    estimates as Estimates,
    blobs as Partial<Blobs> as Blobs,
    present,
    new ProgressBoard(new MemoryCoordinationStore()),
  );
  const { summaries, progress } = await indexes.of({ agentId, spaceId, model });
  return [summaries, progress.done];
};

describe('the count of the summaries of an index', () => {
  it('is what a view shows that is complete', async () =>
    expect(await countOf({ ids: new Set([SHOWN]), isComplete: true })).toEqual([1, 1]));

  it('misses none that a late view does not show yet, and none that is removed counts', async () => {
    expect(await countOf({ ids: new Set(), isComplete: false })).toEqual([119, 119]);
    expect(await countOf({ ids: new Set([SHOWN]), isComplete: false })).toEqual([119, 119]);
  });
});

import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import * as fc from 'fast-check';
import { sectionSummaryDecider, type SectionSummaryCommand } from './section-summary.decider';
import type { SectionSummaryEvent } from './section-summary.events';

const fields = {
  agentId: 'a',
  spaceId: 's',
  build: 1,
  level: 1,
  documentIds: ['d'],
  summaryIds: [] as string[],
  text: 'Foxes live in forests.',
  model: 'local-chat',
};
const add = { type: 'Add', ...fields } as const;
const added = { type: 'SectionSummaryAdded' as const, data: { ...fields } } satisfies SectionSummaryEvent;
const embed = (vector: string) => ({ type: 'Embed', vector, embeddingModel: 'e' }) as const;
const embedded = (vector: string, superseded: string[] = []) =>
  ({ type: 'SectionSummaryEmbedded', data: { vector, embeddingModel: 'e', superseded } }) as const;
const removed = (blobs: string[]) => ({ type: 'SectionSummaryRemoved', data: { agentId: 'a', blobs } }) as const;

describe('a section summary', () => {
  it('is added once, embedded, and embedded again for another model', () => {
    given(sectionSummaryDecider).when(add).yields(added);
    given(sectionSummaryDecider, added)
      .when({ ...add, text: 'Other words.' })
      .yields();
    given(sectionSummaryDecider, added).when(embed('v1')).yields(embedded('v1'));
    given(sectionSummaryDecider, added, embedded('v1'))
      .when(embed('v2'))
      .yields(embedded('v2', ['v1']));
  });

  it('is removed for good, with its vector', () => {
    given(sectionSummaryDecider, added, embedded('v1'))
      .when({ type: 'Remove' })
      .yields(removed(['v1']));
    given(sectionSummaryDecider, added, removed([])).when({ type: 'Remove' }).yields();
    given(sectionSummaryDecider, added, removed([])).when(add).yields();
    given(sectionSummaryDecider, added, removed([])).when(embed('v1')).yields();
    given(sectionSummaryDecider).when({ type: 'Remove' }).yields();
  });
});

test('a decided command yields nothing again', () => {
  const commands = fc.constantFrom<SectionSummaryCommand>(add, embed('v1'), embed('v2'), { type: 'Remove' });
  decidesOnce(sectionSummaryDecider, commands);
});

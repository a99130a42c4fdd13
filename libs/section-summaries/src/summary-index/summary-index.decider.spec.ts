import { decidesOnce, given, recorded } from '../../../kernel/src/decider.contract';
import * as fc from 'fast-check';
import { summaryIndexDecider, type SummaryIndexCommand } from './summary-index.decider';

const estimate = { calls: 3, tokens: 900, cost: '0' };
const start = {
  type: 'Start',
  agentId: 'a',
  spaceId: 's',
  buildId: 'b',
  mode: 'build',
  model: 'local-chat',
  estimate,
} as const;
const { type: _, ...fields } = start;
const started = (build: number, mode: 'build' | 'rebuild' = 'build') =>
  ({ type: 'SummaryIndexBuildStarted', data: { ...fields, mode, build } }) as const;
const built = (build: number, superseded: string[] = []) =>
  ({
    type: 'SummaryIndexBuilt',
    data: { build, hierarchy: `h${build}`, levels: 2, summaries: 5, superseded },
  }) as const;
const complete = (build: number) =>
  ({ type: 'Complete', build, hierarchy: `h${build}`, levels: 2, summaries: 5 }) as const;
const cancelled = (build: number) => ({ type: 'SummaryIndexBuildCancelled', data: { build } }) as const;
const removed = (build: number, blobs: string[]) =>
  ({ type: 'SummaryIndexRemoved', data: { agentId: 'a', build, blobs } }) as const;

describe('a section-summary index', () => {
  it('is built, and replaced in one event by the next build', () => {
    given(summaryIndexDecider).when(start).yields(started(1));
    given(summaryIndexDecider, started(1)).when(complete(1)).yields(built(1));
    given(summaryIndexDecider, started(1), built(1), started(2))
      .when(complete(2))
      .yields(built(2, ['h1']));
  });

  it('has one build at a time', () => {
    given(summaryIndexDecider, started(1))
      .when({ ...start, buildId: 'c' })
      .rejects('conflict');
    given(summaryIndexDecider, started(1)).when(start).yields();
    given(summaryIndexDecider, started(1), cancelled(1)).when(start).yields(started(2));
  });

  it('stays as it was when a build is cancelled or fails', () => {
    given(summaryIndexDecider, started(1), built(1), started(2)).when({ type: 'Cancel' }).yields(cancelled(2));
    given(summaryIndexDecider, started(1), built(1), started(2), cancelled(2)).when(complete(2)).yields();
    given(summaryIndexDecider, started(1), built(1), started(2), cancelled(2), started(3))
      .when(complete(3))
      .yields(built(3, ['h1']));
    given(summaryIndexDecider, started(1))
      .when({ type: 'Fail', build: 1, code: 'upstream_error' })
      .yields({ type: 'SummaryIndexBuildFailed', data: { build: 1, code: 'upstream_error' } });
  });

  it('hears nothing of a build that does not run', () => {
    given(summaryIndexDecider, started(1), cancelled(1), started(2)).when(complete(1)).yields();
    given(summaryIndexDecider, started(1), cancelled(1), started(2))
      .when({ type: 'Fail', build: 1, code: 'x' })
      .yields();
    given(summaryIndexDecider, started(1), cancelled(1)).when({ type: 'Cancel' }).yields();
  });

  it('is removed with what builds have left, also while one runs', () => {
    given(summaryIndexDecider, started(1), built(1))
      .when({ type: 'Remove' })
      .yields(removed(1, ['h1']));
    given(summaryIndexDecider, started(1), built(1), started(2))
      .when({ type: 'Remove' })
      .yields(cancelled(2), removed(2, ['h1']));
    given(summaryIndexDecider, started(1), cancelled(1)).when({ type: 'Remove' }).yields(removed(1, []));
    given(summaryIndexDecider, started(1), built(1), removed(1, ['h1']))
      .when({ type: 'Remove' })
      .yields();
    given(summaryIndexDecider).when({ type: 'Remove' }).yields();
  });

  it('goes with its Agent', () => {
    const deleted = { type: 'SummaryIndexDeleted' as const, data: { blobs: ['h1'] } };
    given(summaryIndexDecider, started(1), built(1)).when({ type: 'Delete' }).yields(deleted);
    given(summaryIndexDecider, started(1), built(1), deleted).when(start).rejects('not_found');
    given(summaryIndexDecider, started(1), built(1), started(2)).when({ type: 'Delete' }).yields(cancelled(2), deleted);
    given(summaryIndexDecider).when({ type: 'Delete' }).yields();
  });

  it.each([
    ['a user', { actor: 'user:u1' }, { userId: 'u1' }],
    ['a key of theirs', { actor: 'key:k1', onBehalfOf: 'user:u1' }, { userId: 'u1', keyId: 'k1' }],
  ])('is paid for by who started the build: %s', (_, by, askedBy) => {
    const states = recorded('summaryIndex-a', [started(1)]).map(({ context, ...event }) =>
      summaryIndexDecider.evolve(summaryIndexDecider.initial, { ...event, context: { ...context, ...by } }),
    );
    expect(states).toMatchObject([{ running: { askedBy } }]);
  });
});

test('a decided command yields nothing again', () => {
  const commands: fc.Arbitrary<SummaryIndexCommand> = fc.oneof(
    fc.constantFrom<SummaryIndexCommand>(start, { ...start, buildId: 'c', mode: 'rebuild' }, complete(1), complete(2)),
    fc.constantFrom<SummaryIndexCommand>({ type: 'Cancel' }, { type: 'Remove' }, { type: 'Delete' }),
    fc.record({ type: fc.constant('Fail' as const), build: fc.constantFrom(1, 2), code: fc.constant('internal') }),
  );
  decidesOnce(summaryIndexDecider, commands);
});

import * as fc from 'fast-check';
import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import type { LimitEvent, LimitTerms } from './limit.events';
import { type LimitCommand, limitRegisterDecider, scopeKey } from './limit-register.decider';

const terms: LimitTerms = {
  amount: '5',
  currency: 'USD',
  window: 'day',
  timeZone: 'UTC',
  action: 'block',
  includedAmount: null,
};
const scope = { type: 'user', id: '01900000-0000-7000-8000-0000000000aa' } as const;
const set = { type: 'SpendLimitSet', data: { limitId: 'l1', scope, ...terms } } as const satisfies LimitEvent;
const removed: LimitEvent = { type: 'SpendLimitRemoved', data: { limitId: 'l1' } };

describe('the limits of the instance', () => {
  it('are added, changed and removed', () => {
    given(limitRegisterDecider)
      .when({ type: 'Create', limitId: 'l1', scope, ...terms })
      .yields(set);
    given(limitRegisterDecider, set)
      .when({ type: 'Update', limitId: 'l1', ...terms, amount: '6' })
      .yields({ type: 'SpendLimitSet', data: { limitId: 'l1', scope, ...terms, amount: '6' } });
    given(limitRegisterDecider, set)
      .when({ type: 'Update', limitId: 'l1', window: 'week' })
      .yields({ type: 'SpendLimitSet', data: { limitId: 'l1', scope, ...terms, window: 'week' } });
    given(limitRegisterDecider, set).when({ type: 'Delete', limitId: 'l1' }).yields(removed);
    given(limitRegisterDecider, set, removed)
      .when({ type: 'Update', limitId: 'l1', ...terms })
      .rejects('not_found');
  });

  it('are changed and removed only as they were read, each by its own revision', () => {
    const other: LimitEvent = { type: 'SpendLimitSet', data: { ...set.data, limitId: 'l2' } };
    const change = { type: 'Update', limitId: 'l1', amount: '6' } as const;
    const both = given(limitRegisterDecider, set, other);
    expect(limitRegisterDecider.decide({ ...change, ifRevision: 0 }, both.state)).toHaveLength(1);
    both.when({ ...change, ifRevision: 1 }).rejects('precondition_failed');
    const anew = given(limitRegisterDecider, set, other, set);
    anew.when({ type: 'Delete', limitId: 'l1', ifRevision: 0 }).rejects('precondition_failed');
    anew.when({ type: 'Delete', limitId: 'l1', ifRevision: 2 }).yields(removed);
  });

  it('are found by what they are for', () => {
    const { state } = given(
      limitRegisterDecider,
      set,
      { type: 'SpendLimitSet', data: { ...set.data, limitId: 'l2' } },
      removed,
    );
    expect(state.byScope.get(scopeKey(scope))?.map(({ id }) => id)).toEqual(['l2']);
    expect([...state.byId.keys()]).toEqual(['l2']);
  });

  it('decide a command once', () =>
    decidesOnce(
      limitRegisterDecider,
      fc.oneof(
        fc
          .record({
            type: fc.constant('Create' as const),
            limitId: fc.constantFrom('a', 'b'),
            scope: fc.constant(scope),
          })
          .map((given): LimitCommand => ({ ...terms, ...given })),
        fc.record({ type: fc.constant('Delete' as const), limitId: fc.constantFrom('a', 'b') }),
      ),
    ));
});

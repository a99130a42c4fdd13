import type { ApiKeyEvent } from '@app/identity';
import type { LimitEvent } from '@app/spending';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { limits } from './limits.projection';

const [U1, K1] = ['01900000-0000-7000-8000-0000000000aa', '01900000-0000-7000-8000-0000000000bb'];
const terms = {
  amount: '5',
  currency: 'USD',
  window: 'day',
  timeZone: 'UTC',
  action: 'block',
  includedAmount: null,
} as const;
const limit = (revision: number, event: LimitEvent) => happened('limitRegister-instance', revision, event);
const set = limit(0, { type: 'SpendLimitSet', data: { limitId: U1, scope: { type: 'user', id: U1 }, ...terms } });
const row = {
  id: U1,
  scope: { type: 'user', id: U1 },
  userId: U1,
  isSet: true,
  ...terms,
  createdAt: at(0),
  revision: 0,
};

const key = (revision: number, event: ApiKeyEvent) => happened(`apiKey-${K1}`, revision, event);
const fields = {
  name: 'k',
  agentIds: [],
  allAgents: false,
  permissions: ['llm' as const],
  usageLimit: null,
  expiresAt: null,
};
const created = key(0, { type: 'ApiKeyCreated', data: { userId: U1, prefix: 'ap_1', secretHash: 'hash', ...fields } });
const unset = {
  id: K1,
  scope: { type: 'apiKey', id: K1 },
  userId: U1,
  isSet: false,
  amount: null,
  currency: null,
  window: null,
  timeZone: null,
  action: 'block',
  includedAmount: null,
  createdAt: at(0),
  revision: 0,
};

describe('the view of limits', () => {
  it('shows a limit as it stands, where it was', () => {
    expect(rowsAfter(limits, set)).toEqual({ [U1]: row });
    const anew = limit(3, {
      type: 'SpendLimitSet',
      data: { limitId: U1, scope: { type: 'user', id: U1 }, ...terms, amount: '6' },
    });
    expect(rowsAfter(limits, set, anew)).toEqual({ [U1]: { ...row, amount: '6', revision: 3 } });
    expect(rowsAfter(limits, set, limit(1, { type: 'SpendLimitRemoved', data: { limitId: U1 } }))).toEqual({});
  });

  it("shows a key's limit while it has one", () => {
    expect(rowsAfter(limits, created)).toEqual({ [K1]: unset });
    const changed = key(1, { type: 'ApiKeyChanged', data: { usageLimit: { amount: '5', window: 'week' } } });
    expect(rowsAfter(limits, created, changed)).toEqual({
      [K1]: { ...unset, isSet: true, amount: '5', window: 'week', revision: 1 },
    });
    expect(rowsAfter(limits, created, changed, key(2, { type: 'ApiKeyRevoked', data: {} }))[K1]).toMatchObject({
      isSet: false,
    });
    expect(rowsAfter(limits, created, changed, happened(`user-${U1}`, 5, { type: 'UserDeleted', data: {} }))).toEqual(
      {},
    );
    expect(rowsAfter(limits, created, key(1, { type: 'ApiKeyRevoked', data: { withUser: true } }))).toEqual({});
  });
});

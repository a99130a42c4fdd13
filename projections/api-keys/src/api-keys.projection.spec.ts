import type { ApiKeyEvent } from '@app/identity';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { apiKeys } from './api-keys.projection';

const event = (revision: number, given: ApiKeyEvent) => happened('apiKey-k1', revision, given);
const fields = {
  name: 'k',
  agentIds: [],
  allAgents: false,
  permissions: ['llm' as const],
  usageLimit: null,
  expiresAt: null,
};
const created = event(0, {
  type: 'ApiKeyCreated',
  data: { userId: 'u1', prefix: 'ap_1', secretHash: 'hash', ...fields },
});
const row = {
  id: 'k1',
  userId: 'u1',
  prefix: 'ap_1',
  ...fields,
  lastUsedAt: null,
  createdAt: at(0),
  revokedAt: null,
  revision: 0,
};

describe('the view of API keys', () => {
  it('shows a key and nothing of its secret', () => {
    expect(rowsAfter(apiKeys, created)).toEqual({ k1: row });
    const replaced = event(1, { type: 'ApiKeySecretReplaced', data: { prefix: 'bootstrap', secretHash: 'other' } });
    expect(rowsAfter(apiKeys, created, replaced)).toEqual({ k1: { ...row, prefix: 'bootstrap', revision: 1 } });
  });

  it('follows changes, grants and the revocation', () =>
    expect(
      rowsAfter(
        apiKeys,
        created,
        event(1, { type: 'ApiKeyChanged', data: { name: 'n', usageLimit: { amount: '5', window: 'day' } } }),
        event(2, { type: 'ApiKeyAgentGranted', data: { agentId: 'a', agentIds: ['a'] } }),
        event(3, { type: 'ApiKeyRevoked', data: {} }),
      ),
    ).toEqual({
      k1: {
        ...row,
        name: 'n',
        usageLimit: { amount: '5', window: 'day' },
        agentIds: ['a'],
        revokedAt: at(3),
        revision: 3,
      },
    }));

  it('shows the last use, which is no change of the key', () =>
    expect(
      rowsAfter(apiKeys, created, happened('apiKeyUse-k1', 7, { type: 'ApiKeyUsed', data: { keyId: 'k1' } })),
    ).toEqual({ k1: { ...row, lastUsedAt: at(7) } }));

  it('loses the keys of a deleted user', () => {
    const other = happened('apiKey-k2', 0, { ...created, data: { ...created.data, userId: 'u2' } });
    expect(
      Object.keys(rowsAfter(apiKeys, created, other, happened('user-u1', 1, { type: 'UserDeleted', data: {} }))),
    ).toEqual(['k2']);
    expect(rowsAfter(apiKeys, created, event(1, { type: 'ApiKeyRevoked', data: { withUser: true } }))).toEqual({});
  });
});

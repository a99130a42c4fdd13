import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import * as fc from 'fast-check';
import { apiKeyDecider, type ApiKeyCommand } from './api-key.decider';
import { apiKeyUseDecider, USE_NOTED_EVERY_MS } from './api-key-use';
import type { ApiKeyEvent } from './api-key.events';

const userId = '01900000-0000-7000-8000-0000000000aa';
const agentId = '01900000-0000-7000-8000-0000000000b1';
const secret = { prefix: 'ap_123', secretHash: 'hash' };
const fields = {
  name: 'k',
  agentIds: [],
  allAgents: false,
  permissions: ['llm' as const],
  usageLimit: null,
  expiresAt: null,
};
const created: ApiKeyEvent = { type: 'ApiKeyCreated', data: { userId, ...secret, ...fields } };
const revoked: ApiKeyEvent = { type: 'ApiKeyRevoked', data: {} };

describe('an API key', () => {
  it('is created once', () => {
    given(apiKeyDecider).when({ type: 'Create', userId, secret, fields }).yields(created);
    given(apiKeyDecider, created)
      .when({ type: 'Create', userId, secret: { ...secret, secretHash: 'other' }, fields })
      .rejects('conflict');
  });

  it('changes what differs, whatever the order of a set', () => {
    given(apiKeyDecider, created)
      .when({ type: 'Update', fields: { name: 'n', permissions: ['llm'], agentIds: [] } })
      .yields({ type: 'ApiKeyChanged', data: { name: 'n' } });
    given(apiKeyDecider, created)
      .when({ type: 'Update', fields: { permissions: [] } })
      .yields({ type: 'ApiKeyChanged', data: { permissions: [] } });
    given(apiKeyDecider, created)
      .when({ type: 'Update', fields: { usageLimit: { amount: '5', window: 'day' } } })
      .yields({ type: 'ApiKeyChanged', data: { usageLimit: { amount: '5', window: 'day' } } });
  });

  it('is granted an Agent, unless it has them all', () => {
    given(apiKeyDecider, created)
      .when({ type: 'GrantAgent', agentId })
      .yields({ type: 'ApiKeyAgentGranted', data: { agentId, agentIds: [agentId] } });
    given(apiKeyDecider, created, { type: 'ApiKeyChanged', data: { allAgents: true } })
      .when({ type: 'GrantAgent', agentId })
      .yields();
  });

  it('gets another secret', () =>
    given(apiKeyDecider, created)
      .when({ type: 'ReplaceSecret', secret: { ...secret, secretHash: 'new' } })
      .yields({ type: 'ApiKeySecretReplaced', data: { ...secret, secretHash: 'new' } }));

  it('is revoked for good', () => {
    given(apiKeyDecider, created).when({ type: 'Revoke' }).yields(revoked);
    given(apiKeyDecider, created, revoked).when({ type: 'Revoke' }).yields();
    given(apiKeyDecider, created, revoked)
      .when({ type: 'Update', fields: { name: 'n' } })
      .rejects('not_found');
    given(apiKeyDecider).when({ type: 'Revoke' }).rejects('not_found');
  });
});

test('the use of a key is noted once in a while', () => {
  const at = (milliseconds: number) => new Date(Date.UTC(2026, 0, 1) + milliseconds);
  const used = { type: 'ApiKeyUsed', data: { keyId: agentId } } as const;
  given(apiKeyUseDecider)
    .when({ keyId: agentId, at: at(0) })
    .yields(used);
  given(apiKeyUseDecider, used)
    .when({ keyId: agentId, at: at(USE_NOTED_EVERY_MS - 1) })
    .yields();
  expect(
    apiKeyUseDecider.decide({ keyId: agentId, at: at(USE_NOTED_EVERY_MS) }, given(apiKeyUseDecider, used).state),
  ).toEqual([used]);
});

test('a decided command yields nothing again', () => {
  const commands: fc.Arbitrary<ApiKeyCommand> = fc.oneof(
    fc.constant({ type: 'Create' as const, userId, secret, fields }),
    fc.record({
      type: fc.constant('Update' as const),
      fields: fc.record({
        name: fc.constantFrom('a', 'b'),
        allAgents: fc.boolean(),
        agentIds: fc.uniqueArray(fc.constantFrom('x', 'y')),
      }),
    }),
    fc.constantFrom('x', 'y').map((id) => ({ type: 'GrantAgent' as const, agentId: id })),
    fc
      .constantFrom('h1', 'h2')
      .map((secretHash) => ({ type: 'ReplaceSecret' as const, secret: { prefix: 'p', secretHash } })),
    fc.constant({ type: 'Revoke' as const }),
  );
  decidesOnce(apiKeyDecider, commands);
});

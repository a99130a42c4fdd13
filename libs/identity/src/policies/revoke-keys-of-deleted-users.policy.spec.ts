import { type RecordedEvent, systemClock } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { apiKeyDecider } from '../api-key/api-key.decider';
import { apiKeyEvents } from '../api-key/api-key.events';
import { RevokeKeysOfDeletedUsers } from './revoke-keys-of-deleted-users.policy';

const [GONE, THERE] = [ids.next(), ids.next()];

it('a key that was made behind the deletion of its user goes too, once, and others stay', async () => {
  const { log, codec, decisions } = decisionsInMemory(apiKeyEvents);
  const policy = new RevokeKeysOfDeletedUsers(decisions, log, systemClock);
  const make = async (userId: string): Promise<RecordedEvent> => {
    const keyId = ids.next();
    const fields = { name: 'K', agentIds: [], allAgents: false, permissions: [], usageLimit: null, expiresAt: null };
    await decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId, secret: { prefix: 'p', secretHash: 'h' }, fields },
      meta(),
    );
    return (await codec.decode(await log.readStream(`apiKey-${keyId}`)))[0] as RecordedEvent;
  };
  await log.append(`user-${GONE}`, [{ id: ids.next(), type: 'UserDeleted', data: '{}', metadata: '{}' }], 'any');
  const [late, other] = [await make(GONE), await make(THERE)];
  for (const event of [late, other, late]) await policy.react(event);
  const revoked = log.events.filter(({ type }) => type === 'ApiKeyRevoked');
  expect(revoked.map(({ stream, data }) => [stream, JSON.parse(data)])).toEqual([
    [late.context.stream, { withUser: true }],
  ]);
});

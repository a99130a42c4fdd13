import {
  Decisions,
  EventCatalogue,
  EventCodec,
  type Keyring,
  type RecordedEvent,
  systemClock,
  TimeOrderedIds,
} from '@app/kernel';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { apiKeyDecider } from '../api-key/api-key.decider';
import { apiKeyEvents } from '../api-key/api-key.events';
import { RevokeKeysOfDeletedUsers } from './revoke-keys-of-deleted-users.policy';

const ids = new TimeOrderedIds();
const [GONE, THERE] = [ids.next(), ids.next()];
const keyring: Keyring = {
  ensureKey: async () => Buffer.alloc(32),
  keys: async (streams) => new Map(streams.map((stream) => [stream, Buffer.alloc(32)])),
};

it('a key that was made behind the deletion of its user goes too, once, and others stay', async () => {
  const log = new MemoryLog();
  const codec = new EventCodec(new EventCatalogue(apiKeyEvents), keyring);
  const decisions = new Decisions(log, codec);
  const policy = new RevokeKeysOfDeletedUsers(decisions, log, systemClock);
  const make = async (userId: string): Promise<RecordedEvent> => {
    const keyId = ids.next();
    const meta = { commandId: ids.next(), correlationId: ids.next(), actor: 'user:1', now: new Date() };
    const fields = { name: 'K', agentIds: [], allAgents: false, permissions: [], usageLimit: null, expiresAt: null };
    await decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId, secret: { prefix: 'p', secretHash: 'h' }, fields },
      meta,
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

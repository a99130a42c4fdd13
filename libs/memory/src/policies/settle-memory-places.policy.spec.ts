import { InstanceSecret, type RecordedEvent, systemClock } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { bucketDecider } from '../bucket/bucket.decider';
import { bucketEvents } from '../bucket/bucket.events';
import { bucketIdOf, bucketOf, PLACE_GRACE_MS, Places } from '../bucket/places';
import type { AccessToAgents } from '../lookups';
import { Forgetting } from '../memory/forgetting';
import { type MemoryCommand, memoryDecider } from '../memory/memory.decider';
import { memoryEvents, type MemoryKind } from '../memory/memory.events';
import { SettleMemoryPlaces } from './settle-memory-places.policy';

const screening = { version: '1' };

/**
 * A shared proposal whose user chose, and whose request died once it had the place for that; `other`: another request chose
 * meanwhile. What is left of it when the policy meets that place.
 */
const cutShort = async (
  use: 'confirm' | 'save-for-me',
  access: Awaited<ReturnType<AccessToAgents>>,
  other?: MemoryCommand,
) => {
  const { log, codec, decisions } = decisionsInMemory([...memoryEvents, ...bucketEvents]);
  const most = { MEMORY_PERSONAL_MAX: 1, MEMORY_SHARED_MAX: 1 };
  const places = new Places(decisions, new InstanceSecret(Buffer.alloc(32)), ids, most);
  const policy = new SettleMemoryPlaces(
    decisions,
    places,
    new Forgetting(decisions, places),
    systemClock,
    async () => ({ personal: 'on', shared: 'on' }),
    async () => access,
  );
  // Long ago, so that the policy waits for nobody.
  const now = new Date(Date.now() - 2 * PLACE_GRACE_MS);
  const [memoryId, agentId, spaceId, userId] = [ids.next(), ids.next(), ids.next(), ids.next()];
  const made = { memoryId, agentId, spaceId, userId, kind: 'shared', text: 'Tea', hash: 'h', screening } as const;
  const memory = { ...made, origin: 'user', source: null, replaces: null } as const;
  const expiresAt = '2030-01-01T00:00:00.000Z';
  await decisions.transact(memoryDecider, memoryId, { type: 'Propose', memory, expiresAt }, meta(now));
  const kind: MemoryKind = use === 'confirm' ? 'shared' : 'personal';
  const bucket = bucketOf({ agentId, userId, kind });
  const taken = { memoryId, ticket: ids.next(), hash: 'h', replaces: null, use, screening, most: 1 };
  await decisions.transact(bucketDecider, bucketIdOf(bucket), { type: 'Take', ...bucket, ...taken }, meta(now));
  if (other !== undefined) await decisions.transact(memoryDecider, memoryId, other, meta(now));
  const [event] = await codec.decode(await log.readStream(`memories-${bucketIdOf(bucket)}`));
  await policy.react(event as RecordedEvent);
  const { state } = await decisions.load(memoryDecider, memoryId);
  const { state: held } = await decisions.load(bucketDecider, bucketIdOf(bucket));
  return { status: state.status, places: held.places.size };
};

describe('a choice whose request died once it had its place', () => {
  it.each(['confirm', 'save-for-me'] as const)('is carried out: %s', async (use) => {
    expect(await cutShort(use, 'use')).toEqual({ status: 'saved', places: 1 });
  });

  it('is not for who lost the Agent meanwhile and would share with those who have it: it waits on', async () => {
    expect(await cutShort('confirm', 'none')).toEqual({ status: 'proposed', places: 0 });
  });

  it('is for who lost the Agent meanwhile and keeps it for themselves', async () => {
    expect(await cutShort('save-for-me', 'none')).toEqual({ status: 'saved', places: 1 });
  });

  it.each<['confirm' | 'save-for-me', MemoryCommand]>([
    ['save-for-me', { type: 'Confirm', screening }],
    ['confirm', { type: 'SaveForMe', hash: 'h', screening }],
  ])('gives that back where another request chose otherwise: %s', async (use, other) => {
    expect(await cutShort(use, 'use', other)).toEqual({ status: 'saved', places: 0 });
  });
});

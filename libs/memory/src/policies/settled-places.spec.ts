import { setTimeout as pause } from 'node:timers/promises';
import { type CommandMeta, InstanceSecret, type RecordedEvent, systemClock, Unavailable } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { bucketDecider, hasText } from '../bucket/bucket.decider';
import { bucketEvents } from '../bucket/bucket.events';
import {
  bucketIdOf,
  bucketOf,
  type Held,
  PLACE_GRACE_MS,
  type PlaceRequest,
  Places,
  waitingOf,
} from '../bucket/places';
import type { MemoryRules } from '../lookups';
import { Forgetting } from '../memory/forgetting';
import { type MemoryCommand, memoryDecider, type NewMemory } from '../memory/memory.decider';
import { memoryEvents } from '../memory/memory.events';
import { SettleMemoryPlaces } from './settle-memory-places.policy';

const screening = { version: '1' };
const expiresAt = '2030-01-01T00:00:00.000Z';
const ALL_ON: MemoryRules = { personal: 'on', shared: 'on' };

/** An Agent, a user, the policy, and what requests do that get no further. */
const setUp = (rulesOf: () => Promise<MemoryRules> = async () => ALL_ON) => {
  const { log, codec, decisions } = decisionsInMemory([...memoryEvents, ...bucketEvents]);
  const most = { MEMORY_PERSONAL_MAX: 2, MEMORY_SHARED_MAX: 2 };
  const places = new Places(decisions, new InstanceSecret(Buffer.alloc(32)), ids, most);
  const forgetting = new Forgetting(decisions, places);
  const policy = new SettleMemoryPlaces(decisions, places, forgetting, systemClock, rulesOf, async () => 'use');
  const [agentId, spaceId, userId] = [ids.next(), ids.next(), ids.next()];
  // Long ago, so that the policy waits for nobody.
  const before = meta(new Date(Date.now() - 2 * PLACE_GRACE_MS));
  const memoryOf = (more: Partial<NewMemory> = {}): NewMemory => ({
    memoryId: ids.next(),
    agentId,
    spaceId,
    userId,
    kind: 'personal',
    text: 'Tea',
    hash: 'tea',
    screening,
    origin: 'user',
    source: null,
    replaces: null,
    ...more,
  });
  const decide = (memoryId: string, command: MemoryCommand, by: CommandMeta = { ...before, commandId: ids.next() }) =>
    decisions.transact(memoryDecider, memoryId, command, by);
  /** A request takes a place and gets no further. */
  const take = async (memory: NewMemory, taken: Partial<PlaceRequest> & Pick<PlaceRequest, 'use'>, by = before) => {
    const { memoryId, hash, replaces } = memory;
    const owner = taken.use === 'propose' ? waitingOf(memory) : bucketOf(memory);
    const died = () => Promise.reject(new Unavailable('log', 'its answer was lost', 'unknown'));
    await expect(places.taking(owner, { memoryId, hash, replaces, screening, ...taken }, by, died)).rejects.toThrow(
      Unavailable,
    );
  };
  const save = async (memory: NewMemory) => {
    await take(memory, { use: 'save' });
    await decide(memory.memoryId, { type: 'Save', memory });
    return memory;
  };
  const propose = async (memory: NewMemory) => {
    await take(memory, { use: 'propose' });
    await decide(memory.memoryId, { type: 'Propose', memory, expiresAt });
    return memory;
  };
  /** The policy meets the last event of a stream. */
  const meetLast = async (stream: string) => {
    const events = await codec.decode(await log.readStream(stream));
    await policy.react(events.at(-1) as RecordedEvent);
  };
  const streamOf = (memory: NewMemory, held: Held = 'saved') =>
    `memories-${bucketIdOf(held === 'proposed' ? waitingOf(memory) : bucketOf(memory), held)}`;
  const heldBy = async (memory: NewMemory, held: Held = 'saved') =>
    (await decisions.load(bucketDecider, streamOf(memory, held).slice('memories-'.length))).state.places;
  const statusOf = async ({ memoryId }: NewMemory) => (await decisions.load(memoryDecider, memoryId)).state.status;
  const lastOf = async ({ memoryId }: NewMemory) =>
    (await codec.decode(await log.readStream(`memory-${memoryId}`))).at(-1);
  return { before, memoryOf, decide, take, save, propose, meetLast, streamOf, heldBy, statusOf, lastOf };
};

describe('a place that was taken for', () => {
  it.each(['save', 'propose'] as const)(
    'what was never stored is given back, and its request comes too late: %s',
    async (use) => {
      const { memoryOf, take, meetLast, streamOf, heldBy, statusOf, decide } = setUp();
      const memory = memoryOf({ kind: use === 'save' ? 'personal' : 'shared' });
      const held = use === 'propose' ? 'proposed' : 'saved';
      await take(memory, { use });
      await meetLast(streamOf(memory, held));
      expect([await statusOf(memory), (await heldBy(memory, held)).size]).toEqual(['abandoned', 0]);
      const late: MemoryCommand = use === 'save' ? { type: 'Save', memory } : { type: 'Propose', memory, expiresAt };
      await expect(decide(memory.memoryId, late)).rejects.toMatchObject({ code: 'conflict' });
    },
  );

  it('what is saved a moment later stays', async () => {
    const { memoryOf, take, meetLast, streamOf, heldBy, statusOf, decide } = setUp();
    const memory = memoryOf();
    await take(memory, { use: 'save' }, meta());
    const met = meetLast(streamOf(memory));
    await pause(50);
    await decide(memory.memoryId, { type: 'Save', memory });
    await met;
    expect([await statusOf(memory), (await heldBy(memory)).size]).toEqual(['saved', 1]);
  });

  it('a choice that the Agent may not remember any more is given back, and the proposal waits on', async () => {
    const { memoryOf, propose, take, meetLast, streamOf, heldBy, statusOf } = setUp(async () => ({
      ...ALL_ON,
      personal: 'off',
    }));
    const memory = await propose(memoryOf());
    await take(memory, { use: 'confirm' });
    await meetLast(streamOf(memory));
    expect([await statusOf(memory), (await heldBy(memory)).size]).toEqual(['proposed', 0]);
    expect((await heldBy(memory, 'proposed')).size).toBe(1);
  });

  it('a choice of one request is given back without that of another', async () => {
    const { memoryOf, propose, take, meetLast, streamOf, heldBy } = setUp(async () => ({ ...ALL_ON, personal: 'off' }));
    const memory = await propose(memoryOf());
    await take(memory, { use: 'confirm', hash: 'other tea' });
    await take(memory, { use: 'confirm' });
    await meetLast(streamOf(memory));
    expect((await heldBy(memory)).get(memory.memoryId)?.tickets.size).toBe(1);
  });

  it('a choice is kept while nobody knows what the Agent may remember, and settled then', async () => {
    let isAway = true;
    const { memoryOf, propose, take, meetLast, streamOf, heldBy, statusOf } = setUp(async () => {
      if (isAway) throw new Unavailable('log', 'it is away');
      return ALL_ON;
    });
    const memory = await propose(memoryOf());
    await take(memory, { use: 'confirm' });
    await expect(meetLast(streamOf(memory))).rejects.toThrow(Unavailable);
    expect((await heldBy(memory)).size).toBe(1);
    isAway = false;
    await meetLast(streamOf(memory));
    expect([await statusOf(memory), (await heldBy(memory)).size]).toEqual(['saved', 1]);
  });

  it('a choice is used as its request would have, which finds that when it is sent again', async () => {
    const { memoryOf, propose, take, meetLast, streamOf, lastOf, decide, before } = setUp();
    const memory = await propose(memoryOf());
    const { now: _, ...asked } = {
      ...before,
      commandId: ids.next(),
      commandHash: 'hash of its body',
      actor: 'key:1',
      onBehalfOf: 'user:1',
      requestId: 'r1',
    };
    await take(memory, { use: 'confirm' }, { ...before, ...asked });
    await meetLast(streamOf(memory));
    const saved = await lastOf(memory);
    expect(saved).toMatchObject({ type: 'MemoryConfirmed', context: asked });
    const again = await decide(memory.memoryId, { type: 'Confirm', screening }, { ...before, ...asked });
    expect(again).toMatchObject({ repeated: true, eventIds: [saved?.context.id] });
  });

  it('another text has that of the memory again, and the edit comes too late', async () => {
    const { memoryOf, save, take, meetLast, streamOf, heldBy, decide } = setUp();
    const memory = await save(memoryOf());
    await take(memory, { use: 'edit', hash: 'coffee' });
    await meetLast(streamOf(memory));
    const place = (await heldBy(memory)).get(memory.memoryId);
    expect(place && [hasText(place, 'tea'), hasText(place, 'coffee')]).toEqual([true, false]);
    const edit = { type: 'Edit', text: 'Coffee', hash: 'coffee', screening, edits: 0 } as const;
    await expect(decide(memory.memoryId, edit)).rejects.toMatchObject({ code: 'conflict' });
    // What an edit came to is no place that is to be settled.
    await meetLast(streamOf(memory));
    expect((await heldBy(memory)).size).toBe(1);
  });
});

describe('after a request that got no further than its memory', () => {
  it.each<[string, MemoryCommand]>([
    ['was confirmed', { type: 'Confirm', screening }],
    ['was saved for its user alone', { type: 'SaveForMe', hash: 'tea', screening }],
    ['was discarded', { type: 'Discard', reason: 'discarded' }],
    [
      'was flagged',
      {
        type: 'Flag',
        during: 'choice',
        hash: 'tea',
        rules: [],
        version: '1',
        agentId: '',
        userId: '',
        kind: 'personal',
      },
    ],
  ])('a proposal that %s waits no more', async (_, command) => {
    const { memoryOf, propose, decide, meetLast, heldBy } = setUp();
    const memory = await propose(memoryOf({ kind: 'shared' }));
    const { agentId, userId, kind } = memory;
    await decide(memory.memoryId, command.type === 'Flag' ? { ...command, agentId, userId, kind } : command);
    expect((await heldBy(memory, 'proposed')).size).toBe(1);
    await meetLast(`memory-${memory.memoryId}`);
    expect((await heldBy(memory, 'proposed')).size).toBe(0);
  });

  it('a deleted memory has no place', async () => {
    const { memoryOf, save, decide, meetLast, heldBy } = setUp();
    const [memory, other] = [await save(memoryOf()), await save(memoryOf({ text: 'Milk', hash: 'milk' }))];
    await decide(memory.memoryId, { type: 'Delete' });
    await meetLast(`memory-${memory.memoryId}`);
    expect([...(await heldBy(memory)).keys()]).toEqual([other.memoryId]);
  });

  it('a replaced memory is deleted', async () => {
    const { memoryOf, save, meetLast, heldBy, statusOf } = setUp();
    const old = await save(memoryOf());
    const memory = await save(memoryOf({ hash: 'coffee', text: 'Coffee', replaces: old.memoryId }));
    await meetLast(`memory-${memory.memoryId}`);
    expect([await statusOf(old), await statusOf(memory)]).toEqual(['deleted', 'saved']);
    expect([...(await heldBy(memory)).keys()]).toEqual([memory.memoryId]);
  });

  it('an edited memory has the place of its text alone', async () => {
    const { memoryOf, save, take, decide, meetLast, heldBy } = setUp();
    const memory = await save(memoryOf());
    await take(memory, { use: 'edit', hash: 'coffee' });
    await decide(memory.memoryId, { type: 'Edit', text: 'Coffee', hash: 'coffee', screening, edits: 0 });
    await meetLast(`memory-${memory.memoryId}`);
    const place = (await heldBy(memory)).get(memory.memoryId);
    expect(place && [hasText(place, 'tea'), hasText(place, 'coffee')]).toEqual([false, true]);
  });
});

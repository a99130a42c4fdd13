import {
  type CommandMeta,
  Decisions,
  EventCatalogue,
  EventCodec,
  FixedClock,
  InstanceSecret,
  TimeOrderedIds,
  Unavailable,
} from '@app/kernel';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { memoryEvents } from '../memory/memory.events';
import { bucketEvents } from './bucket.events';
import { PLACE_GRACE_MS, Places } from './places';

const DAY_MS = 86_400_000;

describe('the place of a memory', () => {
  const setUp = () => {
    const keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map<string, Buffer>() };
    const [clock, ids, secret] = [new FixedClock(), new TimeOrderedIds(), new InstanceSecret(Buffer.alloc(32, 1))];
    const decisions = new Decisions(
      new MemoryLog(),
      new EventCodec(new EventCatalogue([...memoryEvents, ...bucketEvents]), keyring),
    );
    const places = new Places(decisions, secret, ids, { MEMORY_PERSONAL_MAX: 1, MEMORY_SHARED_MAX: 1 });
    return { clock, ids, decisions, places };
  };

  it('is free at once for others where a store did not serve its request, and nothing was saved', async () => {
    const { clock, ids, places } = setUp();
    const owner = { agentId: ids.next(), userId: ids.next(), kind: 'personal' } as const;
    const hash = places.hashOf(owner, 'I live in Bonn.');
    const taking = (act: () => Promise<string>) => {
      const commandId = ids.next();
      const meta: CommandMeta = { commandId, correlationId: commandId, actor: 'user:1', now: clock.now() };
      const taken = { memoryId: ids.next(), hash, replaces: null, use: 'save', screening: { version: '1' } } as const;
      return places.taking(owner, taken, meta, act);
    };
    const away = new Unavailable('vault', 'no answer');
    await expect(taking(() => Promise.reject(away))).rejects.toBe(away);
    expect(await taking(async () => 'saved')).toBe('saved');
  });

  it('is waited for no longer than its grace where it was taken in what is the future by now, as behind a clock that was wrong', async () => {
    const { ids, decisions, places } = setUp();
    const loading = jest.spyOn(decisions, 'load');
    const running = jest.spyOn(performance, 'now');
    try {
      // It begins to wait, looks once as long as a request may take afterwards, and would look again a day later.
      const times = [0, PLACE_GRACE_MS, PLACE_GRACE_MS + DAY_MS] as const;
      running.mockImplementation(() => times[loading.mock.calls.length] ?? Infinity);
      await places.settled(ids.next(), () => true, -DAY_MS);
      expect(loading).toHaveBeenCalledTimes(1);
    } finally {
      running.mockRestore();
    }
  });
});

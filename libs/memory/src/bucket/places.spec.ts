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
import { Places } from './places';

describe('the place of a memory', () => {
  it('is free at once for others where a store did not serve its request, and nothing was saved', async () => {
    const keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map<string, Buffer>() };
    const [clock, ids, secret] = [new FixedClock(), new TimeOrderedIds(), new InstanceSecret(Buffer.alloc(32, 1))];
    const decisions = new Decisions(
      new MemoryLog(),
      new EventCodec(new EventCatalogue([...memoryEvents, ...bucketEvents]), keyring),
    );
    const places = new Places(decisions, secret, ids, { MEMORY_PERSONAL_MAX: 1, MEMORY_SHARED_MAX: 1 });
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
});

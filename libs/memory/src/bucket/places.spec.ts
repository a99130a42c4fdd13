import {
  type CommandMeta,
  Decisions,
  EventCatalogue,
  EventCodec,
  InstanceSecret,
  TimeOrderedIds,
  Unavailable,
} from '@app/kernel';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { memoryDecider } from '../memory/memory.decider';
import { memoryEvents } from '../memory/memory.events';
import { bucketEvents } from './bucket.events';
import { PLACE_GRACE_MS, Places } from './places';

const DAY_MS = 86_400_000;

const keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map<string, Buffer>() };
const unavailable = new Unavailable('vault', 'no answer');
const screening = { version: '1' };

/** Memories of one user. `taking` is for another memory each time, with the same text. */
const setUp = () => {
  const [clock, ids, secret] = [new FixedClock(), new TimeOrderedIds(), new InstanceSecret(Buffer.alloc(32, 1))];
  const log = new MemoryLog();
  const decisions = new Decisions(log, new EventCodec(new EventCatalogue([...memoryEvents, ...bucketEvents]), keyring));
  const places = new Places(decisions, secret, ids, { MEMORY_PERSONAL_MAX: 1, MEMORY_SHARED_MAX: 1 });
  const owner = { agentId: ids.next(), userId: ids.next(), kind: 'personal' } as const;
  const hash = places.hashOf(owner, 'I live in Bonn.');
  const meta = (): CommandMeta => {
    const commandId = ids.next();
    return { commandId, correlationId: commandId, actor: 'user:1', now: clock.now() };
  };
  const taking = (act: (memoryId: string) => Promise<string>) => {
    const memoryId = ids.next();
    const taken = { memoryId, hash, replaces: null, use: 'save', screening } as const;
    return places.taking(owner, taken, meta(), () => act(memoryId));
  };
  const save = async (memoryId: string): Promise<string> => {
    const known = { memoryId, ...owner, spaceId: ids.next(), text: 'I live in Bonn.', hash, screening };
    const memory = { ...known, origin: 'user', source: null, replaces: null } as const;
    await decisions.transact(memoryDecider, memoryId, { type: 'Save', memory }, meta());
    return memoryId;
  };
  const hashOf = (text: string): string => places.hashOf(owner, text);
  const edit = (memoryId: string, text: string) =>
    places.editing(owner, { memoryId, hash: hashOf(text), screening }, meta(), (edits) =>
      decisions.transact(memoryDecider, memoryId, { type: 'Edit', text, hash: hashOf(text), screening, edits }, meta()),
    );
  return { log, ids, decisions, places, owner, hash, hashOf, meta, taking, save, edit };
};

describe('the place of a memory', () => {
  it('is free at once for others where a store did not serve its request, and nothing was saved', async () => {
    const { taking } = setUp();
    await expect(taking(() => Promise.reject(unavailable))).rejects.toBe(unavailable);
    expect(await taking(async () => 'saved')).toBe('saved');
  });

  it('stays its own where a store did not serve its request, and it was saved all the same', async () => {
    const { places, owner, hash, taking, save } = setUp();
    let saved = '';
    const request = taking(async (memoryId) => {
      saved = await save(memoryId);
      throw unavailable;
    });
    await expect(request).rejects.toBe(unavailable);
    expect(await places.equalTo(owner, hash)).toBe(saved);
  });

  it('holds the text that it has alone, at once, where a store did not serve its edit', async () => {
    const { places, owner, hash, meta, taking, save } = setUp();
    const memoryId = await taking(save);
    const moved = places.hashOf(owner, 'I live in Berlin.');
    const edit = places.editing(owner, { memoryId, hash: moved, screening }, meta(), () => Promise.reject(unavailable));
    await expect(edit).rejects.toBe(unavailable);
    expect([await places.equalTo(owner, hash), await places.equalTo(owner, moved)]).toEqual([memoryId, undefined]);
  });

  it('holds the text of the last of two edits, also where the one before it is noted behind it', async () => {
    const { log, places, owner, hashOf, taking, save, edit } = setUp();
    const memoryId = await taking(save);
    const append = log.append.bind(log);
    let notes = 0;
    log.append = async (stream, events, expected) => {
      if (events[0]?.data.includes('"use":"note"') === true && (notes += 1) === 1) await edit(memoryId, 'In Berlin.');
      return append(stream, events, expected);
    };
    await edit(memoryId, 'In Bremen.');
    const holds = (text: string) => places.equalTo(owner, hashOf(text));
    expect([await holds('In Bremen.'), await holds('In Berlin.')]).toEqual([undefined, memoryId]);
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

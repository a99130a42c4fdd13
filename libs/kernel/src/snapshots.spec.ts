import { Decisions, type Decider, type Json } from '.';
import { SNAPSHOT_EVENTS } from './snapshots';
import { meta, notes, type NoteCommand, type NoteEvent, setUp } from './notes.contract';

describe('a snapshot', () => {
  const counts: Decider<number, NoteCommand, NoteEvent> = {
    category: notes.category,
    owner: () => ({ userId: 'u1' }),
    initial: 0,
    withoutContent: new Set(['Noted'] as const),
    decide: (command) => (command.type === 'Note' ? [{ type: 'Noted', data: { text: command.text, size: 1 } }] : []),
    evolve: (sum, event) => (event.type === 'Noted' ? sum + event.data.size : sum),
    snapshot: { version: 1, save: (state) => state, restore: (saved) => saved as number },
  };

  const longStream = async () => {
    const kept = new Map<string, Json>();
    const store = {
      readState: async (key: string) => kept.get(key),
      writeState: async (key: string, value: Json | null) => {
        if (value !== null) kept.set(key, value);
        return true;
      },
    };
    const { log, codec } = setUp();
    const first = meta();
    const open = () => new Decisions(log, codec, store);
    const decisions = open();
    await decisions.transact(counts, 'n1', { type: 'Note', text: 'secret' }, first);
    for (let made = 0; made < SNAPSHOT_EVENTS + 10; made += 1)
      await decisions.transact(counts, 'n1', { type: 'Note', text: 'secret' }, meta());
    const readFrom: number[] = [];
    const read = log.readStream.bind(log);
    log.readStream = async (stream, options) => {
      readFrom.push(options?.from ?? 0);
      return read(stream, options);
    };
    return { kept, log, codec, open, first, readFrom };
  };

  it('lets another process read the end of a long stream alone, and know its commands', async () => {
    const { kept, open, first, readFrom, log } = await longStream();
    const other = open();
    expect(await other.load(counts, 'n1')).toMatchObject({
      state: log.events.length,
      revision: log.events.length - 1,
    });
    expect(Math.min(...readFrom)).toBeGreaterThanOrEqual(SNAPSHOT_EVENTS - 1);
    expect(await other.transact(counts, 'n1', { type: 'Note', text: 'secret' }, first)).toMatchObject({
      revision: 0,
      eventIds: [log.events[0]?.id],
      repeated: true,
    });
    expect([...kept.keys()]).toEqual(['snapshot/notes-n1']);
    expect(JSON.stringify([...kept.values()])).not.toContain('secret');
  });

  it('does not count where the log has another event there', async () => {
    const { open, log, codec, readFrom } = await longStream();
    log.events.length = SNAPSHOT_EVENTS - 5;
    const { length } = log.events;
    const others = new Decisions(log, codec);
    for (let made = 0; made < 10; made += 1)
      await others.transact(counts, 'n1', { type: 'Note', text: 'other' }, meta());
    readFrom.length = 0;
    expect(await open().load(counts, 'n1')).toMatchObject({ state: length + 10 });
    expect(readFrom).toContain(0);
  });

  it('of another version is not read', async () => {
    const { open, readFrom, log } = await longStream();
    const next: typeof counts = { ...counts, snapshot: { version: 2, save: () => 0, restore: () => -1 } };
    expect(await open().load(next, 'n1')).toMatchObject({ state: log.events.length });
    expect(readFrom).toEqual([0]);
  });
});

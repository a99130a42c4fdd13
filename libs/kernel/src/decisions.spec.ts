import { Decisions, type Decider, deriveId, DomainError, ERASED, eventId, Unavailable } from '.';
import { ids, meta, notes, type NoteCommand, type NoteEvent, setUp } from './notes.contract';

describe('Decisions', () => {
  it('appends what was decided, with deterministic ids and flat metadata', async () => {
    const { log, decisions } = setUp();
    const command = meta({ requestId: 'r1', onBehalfOf: 'user:u1' });
    const receipt = await decisions.transact(notes, 'n1', { type: 'Note', text: 'secret' }, command);
    expect(receipt).toEqual({
      stream: 'notes-n1',
      position: '0',
      revision: 0,
      eventIds: [eventId(command.commandId, 0)],
      repeated: false,
    });
    expect(
      Object.values(JSON.parse(log.events[0]?.metadata ?? '') as object).every((value) => typeof value === 'string'),
    ).toBe(true);
  });

  it('encrypts sensitive fields in the log and reads them back, or as erased without their key', async () => {
    const { log, held, codec, decisions } = setUp();
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'secret' }, meta());
    expect(log.events[0]?.data).not.toContain('secret');
    expect((await codec.decode(log.events))[0]?.data).toEqual({ text: 'secret', size: 6 });
    held.clear();
    expect((await codec.decode(log.events))[0]?.data).toEqual({ text: ERASED, size: 6 });
  });

  it('decides a command id once and answers its first receipt again', async () => {
    const { log, decisions } = setUp();
    const command = meta({ commandHash: 'h' });
    const first = await decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, command);
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta());
    expect(await decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, command)).toEqual({
      ...first,
      repeated: true,
    });
    expect(log.events).toHaveLength(2);
    await expect(
      decisions.transact(notes, 'n1', { type: 'Note', text: 'c' }, { ...command, commandHash: 'other' }),
    ).rejects.toEqual(new DomainError('idempotency_key_reused'));
  });

  it('knows the commands of a day, however many, and forgets older ones', async () => {
    const { log, decisions } = setUp();
    const hours = (count: number) => new Date(Date.UTC(2026, 10, 1) + count * 3_600_000);
    const note = (at: number, command = meta({ now: hours(at) })) =>
      decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, { ...command, now: hours(at) });
    const first = meta({ now: hours(0) });
    const second = meta({ now: hours(2) });
    await note(0, first);
    await note(2, second);
    for (let made = 0; made < 500; made += 1) await note(3);
    expect(await note(23, first)).toMatchObject({ revision: 0, repeated: true });
    await note(25);
    expect(await note(25, second)).toMatchObject({ revision: 1, repeated: true });
    expect(await note(25, first)).toMatchObject({ revision: log.events.length - 1, repeated: false });
  });

  it('decides again after losing races, and rejects where others are faster for five seconds', async () => {
    const { log, codec, decisions } = setUp();
    const rival = new Decisions(log, codec);
    let races = 20;
    log.before = async () => {
      if (races-- <= 0) return;
      const run = log.before;
      log.before = async () => undefined;
      await rival.transact(notes, 'n1', { type: 'Note', text: 'rival' }, meta());
      log.before = run;
    };
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'mine' }, meta());
    expect((await decisions.load(notes, 'n1')).state.texts).toEqual([
      ...Array.from({ length: 20 }, () => 'rival'),
      'mine',
    ]);
    races = Infinity;
    const startedAt = performance.now();
    let time = startedAt;
    jest.spyOn(performance, 'now').mockImplementation(() => (time += 50));
    await expect(decisions.transact(notes, 'n1', { type: 'Note', text: 'late' }, meta())).rejects.toMatchObject({
      code: 'conflict',
    });
    jest.mocked(performance.now).mockRestore();
    expect(time - startedAt).toBeGreaterThan(5_000);
  });

  it('lets those of its process that lost a race take turns', async () => {
    const { log, decisions } = setUp();
    const append = jest.spyOn(log, 'append');
    const texts = Array.from({ length: 100 }, (_, number) => String(number));
    await Promise.all(texts.map((text) => decisions.transact(notes, 'n1', { type: 'Note', text }, meta())));
    expect((await decisions.load(notes, 'n1')).state.texts.toSorted()).toEqual(texts.toSorted());
    // Each tries beside all others once, and alone after that.
    expect(append.mock.calls.length).toBeLessThanOrEqual(2 * texts.length);
  });

  it('counts no turns of others of its process as a race that is lost', async () => {
    const { log, decisions } = setUp();
    jest.useFakeTimers();
    try {
      // Six seconds together, on a log that is slow.
      log.before = () => new Promise((resolve) => setTimeout(resolve, 300));
      const texts = Array.from({ length: 20 }, (_, number) => String(number));
      const receipts = Promise.allSettled(
        texts.map((text) => decisions.transact(notes, 'n1', { type: 'Note', text }, meta())),
      );
      await jest.advanceTimersByTimeAsync(20_000);
      expect((await receipts).map(({ status }) => status)).toEqual(texts.map(() => 'fulfilled'));
    } finally {
      jest.useRealTimers();
    }
  });

  it('remembers aggregates by what they hold, not by their number', async () => {
    const { log, decisions } = setUp();
    const text = 'x'.repeat(400_000);
    const names = Array.from({ length: 120 }, (_, number) => `n${number}`);
    for (const name of names) {
      await decisions.transact(notes, name, { type: 'Note', text }, meta());
      await decisions.load(notes, name);
    }
    const read = jest.spyOn(log, 'readStream');
    await decisions.load(notes, 'n119');
    const froms = () => read.mock.calls.map(([stream, options]) => [stream, options?.from]);
    expect(froms()).toEqual([['notes-n119', 1]]);
    await decisions.load(notes, 'n0');
    expect(froms()[1]).toEqual(['notes-n0', 0]);
  });

  it('reads an aggregate as it was at a revision', async () => {
    const { decisions } = setUp();
    for (const text of ['a', 'b', 'c']) await decisions.transact(notes, 'n1', { type: 'Note', text }, meta());
    expect((await decisions.loadAt(notes, 'n1', 1))?.texts).toEqual(['a', 'b']);
    expect(await decisions.loadAt(notes, 'n1', 3)).toBeUndefined();
  });

  it('tells of what it has appended, or may have', async () => {
    const { log, decisions } = setUp();
    const write = async (outcome?: Unavailable): Promise<boolean> => {
      const progress = { hasWritten: false };
      if (outcome !== undefined) log.before = async () => Promise.reject(outcome);
      await decisions
        .transact(notes, 'n1', { type: 'Note', text: 'a' }, { ...meta(), progress })
        .catch(() => undefined);
      return progress.hasWritten;
    };
    expect([
      await write(),
      await write(new Unavailable('log', 'away')),
      await write(new Unavailable('log', 'lost', 'unknown')),
    ]).toEqual([true, false, true]);
  });

  it('has done nothing where the vault did not confirm a key', async () => {
    const { log, keyring, decisions } = setUp();
    jest.spyOn(keyring, 'ensureKey').mockRejectedValue(new Unavailable('vault', 'no answer', 'unknown'));
    const progress = { hasWritten: false };
    await expect(
      decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, { ...meta(), progress }),
    ).rejects.toMatchObject({ name: 'Unavailable', dependency: 'vault', outcome: 'none' });
    expect([progress.hasWritten, log.events]).toEqual([false, []]);
  });

  it('reads nothing where the log knows that nothing came, and everything that came', async () => {
    const { log, codec, decisions } = setUp();
    log.endOf = (stream) => log.events.filter((event) => event.stream === stream).length - 1;
    expect(decisions.load(notes, 'n1')).toEqual({ state: notes.initial, revision: -1, position: null });
    await new Decisions(log, codec).transact(notes, 'n1', { type: 'Note', text: 'first' }, meta());
    const before = log.reads;
    expect(await decisions.load(notes, 'n1')).toMatchObject({ state: { texts: ['first'] }, revision: 0 });
    expect(decisions.recall(notes, 'n1')).toMatchObject({ state: { texts: ['first'] }, revision: 0 });
    expect(log.reads).toBe(before + 1);
    await new Decisions(log, codec).transact(notes, 'n1', { type: 'Note', text: 'second' }, meta());
    expect(await decisions.recall(notes, 'n1')).toMatchObject({ state: { texts: ['first', 'second'] }, revision: 1 });
  });

  it('keeps apart what two deciders fold of one stream', async () => {
    const { log, decisions } = setUp();
    log.endOf = (stream) => log.events.filter((event) => event.stream === stream).length - 1;
    const sizes: Decider<number, NoteCommand, NoteEvent> = {
      category: notes.category,
      owner: () => ({ userId: 'u1' }),
      initial: 0,
      decide: () => [],
      evolve: (sum, event) => (event.type === 'Noted' ? sum + event.data.size : sum),
    };
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'first' }, meta());
    expect(await decisions.load(notes, 'n1')).toMatchObject({ state: { texts: ['first'] } });
    expect(await decisions.load(sizes, 'n1')).toMatchObject({ state: 5 });
    expect(await decisions.recall(notes, 'n1')).toMatchObject({ state: { texts: ['first'] } });
  });

  it('leaves content encrypted that a decider does not read', async () => {
    const { log, codec, decisions } = setUp();
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'secret' }, meta());
    const blind = { ...notes, withoutContent: new Set(['Noted'] as const) };
    const { state } = await new Decisions(log, codec).load(blind, 'n1');
    expect(state.texts).toEqual([ERASED]);
    expect(await decisions.loadAt(blind, 'n1', 0)).toMatchObject({ texts: [ERASED] });
    expect((await decisions.load(notes, 'n1')).state.texts).toEqual(['secret']);
  });

  describe('while the log is away', () => {
    const texts = async ({ decisions }: ReturnType<typeof setUp>, id = 'n1') =>
      (await decisions.recall(notes, id)).state.texts;

    it('recalls what was read before for those who only read, and nothing else', async () => {
      const all = setUp();
      const { log, decisions } = all;
      await decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
      await decisions.load(notes, 'n1');
      log.isDown = true;
      expect(await texts(all)).toEqual(['a']);
      await expect(texts(all, 'unknown')).rejects.toMatchObject({ name: 'Unavailable' });
      await expect(decisions.load(notes, 'n1')).rejects.toMatchObject({ name: 'Unavailable' });
      await expect(decisions.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta())).rejects.toMatchObject({
        name: 'Unavailable',
      });
    });

    it('lets one at a time ask again, for whom nobody waits, and reads on when the log is back', async () => {
      const all = setUp();
      const { log, codec, decisions } = all;
      await decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
      await decisions.load(notes, 'n1');
      log.isDown = true;
      await texts(all);
      const before = log.reads;
      await Promise.all(Array.from({ length: 20 }, () => texts(all)));
      expect(log.reads).toBe(before + 1);
      log.isDown = false;
      await new Decisions(log, codec).transact(notes, 'n1', { type: 'Note', text: 'b' }, meta());
      await texts(all);
      await new Promise(setImmediate);
      expect(await texts(all)).toEqual(['a', 'b']);
    });

    it('recalls nothing for longer than five minutes', async () => {
      const all = setUp();
      await all.decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
      await all.decisions.load(notes, 'n1');
      all.log.isDown = true;
      const later = performance.now() + 5 * 60_000 + 1;
      const now = jest.spyOn(performance, 'now').mockReturnValue(later);
      await expect(texts(all)).rejects.toMatchObject({ name: 'Unavailable' });
      now.mockRestore();
      expect(await texts(all)).toEqual(['a']);
    });
  });

  it('holds a writer to the revision it asked for', async () => {
    const { decisions } = setUp();
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
    await expect(
      decisions.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta({ ifRevision: 4 })),
    ).rejects.toMatchObject({ code: 'precondition_failed' });
    await expect(
      decisions.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta({ ifRevision: 0 })),
    ).resolves.toMatchObject({ revision: 1 });
  });
});

test('derived ids are UUIDv7 that keep the time of their command', () => {
  const [first, second] = [ids.next(), ids.next()];
  expect(deriveId(first, 'agent')).toBe(deriveId(first, 'agent'));
  expect(deriveId(first, 'agent')).not.toBe(deriveId(first, 'space'));
  expect(deriveId(first, 'agent')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
  expect(deriveId(first, 'agent').slice(0, 13)).toBe(first.slice(0, 13));
  expect(first < second).toBe(true);
});

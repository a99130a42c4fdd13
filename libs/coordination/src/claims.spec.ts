import { AccessDenied, Unavailable } from '@app/kernel';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { MemoryCoordinationStore } from '../../../test/fixtures/memory-coordination-store';
import { until } from '../../../test/fixtures/until';
import { Claims } from './claims';

const setUp = () => {
  const store = new MemoryCoordinationStore();
  const clock = new FixedClock();
  return { clock, of: (holder: string) => new Claims(store, clock, holder, 60_000, console) };
};

describe('a claim', () => {
  it('is held by one, and free again when released', async () => {
    const { of } = setUp();
    const release = await of('a').take('work');
    expect(await of('b').take('work')).toBeUndefined();
    await release?.();
    expect(await of('b').take('work')).toBeDefined();
  });

  it('is taken by one of many who try at once', async () => {
    const { of } = setUp();
    const taken = await Promise.all(['a', 'b', 'c', 'd'].map((holder) => of(holder).take('work')));
    expect(taken.filter((release) => release !== undefined)).toHaveLength(1);
  });

  it('of a holder that fell silent runs out, and is not taken from its heir by the late release', async () => {
    const { of, clock } = setUp();
    const late = await of('a').take('work');
    clock.advance(60_000);
    expect(await of('b').take('work')).toBeDefined();
    await late?.();
    expect(await of('c').take('work')).toBeUndefined();
  });

  it('that was kept up too late is not taken by its own process, which still works under it', async () => {
    const { of, clock } = setUp();
    const a = of('a');
    const release = await a.take('turn/1');
    clock.advance(60_001);
    expect(await a.take('turn/1')).toBeUndefined();
    const finished: string[] = [];
    await a.finishAbandoned('turn/', 0, async (rest) => void finished.push(rest));
    expect(finished).toEqual([]);
    await release?.({ isUnfinished: true });
    await a.finishAbandoned('turn/', 0, async (rest) => void finished.push(rest));
    expect(finished).toEqual(['1']);
  });

  it('tells its holder when another asks to end the work, and stays held until then', async () => {
    const store = new MemoryCoordinationStore();
    const clock = new FixedClock();
    const asked = new Promise<void>((resolve) => void new Claims(store, clock, 'a', 60, console).take('work', resolve));
    const other = new Claims(store, clock, 'b', 60, console);
    while (!(await other.ask('work'))) await new Promise((resolve) => setImmediate(resolve));
    await asked;
    expect(await other.take('work')).toBeUndefined();
    expect(await other.ask('other work')).toBe(false);
  });

  it('is free again when it is released right after another asked to end the work', async () => {
    const { of } = setUp();
    const release = await of('a').take('work');
    expect(await of('b').ask('work')).toBe(true);
    await release?.();
    expect(await of('b').ask('work')).toBe(false);
    expect(await of('b').take('work')).toBeDefined();
  });

  it('is kept up also after the answer to a heartbeat was lost, and released', async () => {
    const store = new MemoryCoordinationStore();
    const clock = new FixedClock();
    const write = store.write.bind(store);
    let isLost = false;
    store.write = async (...given) => {
      const written = await write(...given);
      if (!isLost) return written;
      isLost = false;
      throw new Unavailable('coordination', 'no answer', 'unknown');
    };
    const release = await new Claims(store, clock, 'a', 60, console).take('work');
    clock.advance(1_000);
    isLost = true;
    await until(() => !isLost);
    clock.advance(1_000);
    await until(
      async () => ((await store.read('claim/work')) as { readonly until: number }).until > clock.now().getTime(),
      'a heartbeat',
      { patience: 5_000 },
    );
    await release?.();
    expect(await store.read('claim/work')).toBeUndefined();
  });

  it.each([
    ['a fault of the store is logged', new TypeError('broken'), ['TypeError']],
    ['an outage, which is logged elsewhere, is not', new Unavailable('coordination', 'away'), []],
  ])('is kept up after a heartbeat that failed: %s', async (_, error, told) => {
    const store = new MemoryCoordinationStore();
    const clock = new FixedClock();
    const warned: object[] = [];
    const claims = new Claims(store, clock, 'a', 60, { warn: (facts) => void warned.push(facts) });
    const release = await claims.take('work');
    const write = jest.spyOn(store, 'write').mockRejectedValueOnce(error);
    clock.advance(1_000);
    await until(
      async () => ((await store.read('claim/work')) as { readonly until: number }).until > clock.now().getTime(),
      'the next heartbeat',
    );
    expect(write.mock.calls.length).toBeGreaterThan(1);
    expect(warned).toEqual(told.map((name) => ({ claim: 'work', error: name })));
    await release?.();
  });

  it.each([true, false])(
    'whose taking the store did not answer was begun by nobody: it is taken here at the next try, whether it stands (%s) or not',
    async (stands) => {
      const store = new MemoryCoordinationStore();
      const write = store.write.bind(store);
      let isLost = true;
      store.write = async (...given) => {
        if (!isLost) return write(...given);
        isLost = false;
        if (stands) await write(...given);
        throw new Unavailable('coordination', 'no answer', 'unknown');
      };
      const claims = new Claims(store, new FixedClock(), 'a', 60_000, console);
      await expect(claims.take('work')).rejects.toMatchObject({ name: 'Unavailable', outcome: 'none' });
      expect(await claims.take('work')).toBeDefined();
      expect(await claims.take('work')).toBeUndefined();
    },
  );

  it.each([true, false])(
    "whose giving back the store did not answer is nobody's: it is taken here at the next try, whether it stands (%s) or not",
    async (stands) => {
      const store = new MemoryCoordinationStore();
      const clock = new FixedClock();
      const claims = new Claims(store, clock, 'a', 60_000, console);
      const release = await claims.take('work');
      const write = store.write.bind(store);
      store.write = async (...given) => {
        store.write = write;
        if (!stands) await write(...given);
        throw new Unavailable('coordination', 'no answer', 'unknown');
      };
      await release?.();
      clock.advance(1);
      expect(await claims.take('work')).toBeDefined();
      expect(await claims.take('work')).toBeUndefined();
    },
  );

  it('whose giving back takes the store long ends for whoever worked under it within a second, and is taken here at the next try', async () => {
    const store = new MemoryCoordinationStore();
    const clock = new FixedClock();
    const claims = new Claims(store, clock, 'a', 60_000, console);
    const release = await claims.take('work');
    const write = store.write.bind(store);
    const answers: (() => void)[] = [];
    store.write = async (...given) => {
      store.write = write;
      await new Promise<void>((resolve) => answers.push(resolve));
      return write(...given);
    };
    await release?.();
    clock.advance(1_000);
    expect(await claims.take('work')).toBeDefined();
    for (const answer of answers) answer();
    await new Promise(setImmediate);
    // What comes late gives back nothing of the next one.
    expect(await new Claims(store, clock, 'b', 60_000, console).take('work')).toBeUndefined();
    expect(await claims.take('work')).toBeUndefined();
  });

  it('whose taking took the store so long that it ran out is begun by nobody, and is taken here at the next try', async () => {
    const store = new MemoryCoordinationStore();
    const clock = new FixedClock();
    const [claims, other] = [
      new Claims(store, clock, 'a', 60_000, console),
      new Claims(store, clock, 'b', 60_000, console),
    ];
    const write = store.write.bind(store);
    store.write = async (...given) => {
      store.write = write;
      const written = await write(...given);
      clock.advance(60_001);
      return written;
    };
    await expect(claims.take('work')).rejects.toMatchObject({ name: 'Unavailable', outcome: 'none' });
    const release = await claims.take('work');
    expect(release).toBeDefined();
    expect(await other.take('work')).toBeUndefined();
    await release?.();
    expect(await other.take('work')).toBeDefined();
  });

  it('that comes to stand only while it is taken again stays to be taken here', async () => {
    const store = new MemoryCoordinationStore();
    const clock = new FixedClock();
    const claims = new Claims(store, clock, 'a', 60_000, console);
    const write = store.write.bind(store);
    let late: (() => Promise<boolean>) | undefined;
    store.write = async (...given) => {
      late = () => write(...given);
      throw new Unavailable('coordination', 'no answer', 'unknown');
    };
    await expect(claims.take('work')).rejects.toMatchObject({ name: 'Unavailable' });
    clock.advance(1);
    store.write = async (...given) => {
      store.write = write;
      await late?.();
      return write(...given);
    };
    expect(await claims.take('work')).toBeUndefined();
    expect(await claims.take('work')).toBeDefined();
  });

  it('that the store denies says so as the store does: to ask again does not help', async () => {
    const store = new MemoryCoordinationStore();
    const denied = new AccessDenied('coordination', 'no rights', 'unknown');
    store.write = () => Promise.reject(denied);
    await expect(new Claims(store, new FixedClock(), 'a', 60_000, console).take('work')).rejects.toBe(denied);
  });

  it("that is left standing is nobody else's until it runs out, and is listed then; where it was left one takes it up at once", async () => {
    const { of, clock } = setUp();
    const [a, b] = [of('a'), of('b')];
    for (const name of ['turn/1', 'turn/2']) await (await a.take(name))?.({ isUnfinished: true });
    await a.take('other/1');
    expect(await b.take('turn/1')).toBeUndefined();
    const taken = await Promise.all([a.take('turn/1'), a.take('turn/1')]);
    expect(taken.filter((release) => release !== undefined)).toHaveLength(1);
    await taken.find((release) => release !== undefined)?.();
    const finished: string[] = [];
    const finish = (fails = false) =>
      b.finishAbandoned('turn/', 30_000, async (rest) => {
        if (fails) throw new Error('not now');
        finished.push(rest);
      });
    clock.advance(60_000);
    await finish();
    expect(finished).toEqual([]);
    clock.advance(30_001);
    await expect(finish(true)).rejects.toThrow('not now');
    expect(await a.take('turn/2')).toBeUndefined();
    await finish();
    expect(finished).toEqual([]);
    clock.advance(90_001);
    await finish();
    await finish();
    expect(finished).toEqual(['2']);
  });

  it('that is left standing is taken up where it was left, also behind a try that the store did not serve', async () => {
    const store = new MemoryCoordinationStore();
    const claims = new Claims(store, new FixedClock(), 'a', 60_000, console);
    await (
      await claims.take('work')
    )?.({ isUnfinished: true });
    jest.spyOn(store, 'write').mockRejectedValueOnce(new Unavailable('coordination', 'no answer'));
    await expect(claims.take('work')).rejects.toMatchObject({ outcome: 'none' });
    expect(await claims.take('work')).toBeDefined();
  });

  it('whose work cannot be finished holds up no other one', async () => {
    const { of, clock } = setUp();
    const [a, b] = [of('a'), of('b')];
    for (const name of ['turn/1', 'turn/2', 'turn/3']) await (await a.take(name))?.({ isUnfinished: true });
    clock.advance(60_001);
    const finished: string[] = [];
    const finish = b.finishAbandoned('turn/', 0, async (rest) => {
      if (rest !== '3') throw new Error(`not ${rest}`);
      finished.push(rest);
    });
    await expect(finish).rejects.toThrow('not 1');
    expect(finished).toEqual(['3']);
  });

  it('does not touch others', async () => {
    const { of } = setUp();
    await of('a').take('work');
    expect(await of('b').take('other work')).toBeDefined();
  });
});

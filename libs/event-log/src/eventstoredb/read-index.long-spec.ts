import { EventCatalogue, inReadScope, type NewEvent, renewReadScope } from '@app/kernel';
import { foreignEvents, intruderIn, writeForeign } from '../../../../test/fixtures/foreign-events';
import { until } from '../../../../test/fixtures/until';
import { rounds, seed, seededNumbers } from '../../../../test/faults/log/rounds';
import { startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { newEvents } from '../contract/log-under-test.contract';
import { Counted, counter, type Process, processOn, readsOf, withTwo } from './processes.contract';

describe('a read index', () => {
  it('shows each process whatever was acknowledged before it began to look, whoever wrote it, and nothing older behind what it saw', async () => {
    const server = await startEventStoreDouble();
    const processes = Array.from({ length: 3 }, () => processOn(server.url));
    const next = seededNumbers();
    const any = <T>(of: readonly T[]): T => of[next(of.length)] as T;
    const streams = Array.from({ length: 6 }, (_, index) => `c${index}`);
    const acknowledged = new Map(streams.map((id) => [id, 0]));
    const known = (id: string): number => acknowledged.get(id) ?? 0;
    const wrong: string[] = [];
    const write = async (process: Process, id: string): Promise<void> => {
      await process.add(id);
      acknowledged.set(id, known(id) + 1);
    };
    // The second of a pair is never ahead of the first.
    const writePair = async (process: Process): Promise<void> => {
      await write(process, 'c4');
      await write(process, 'c5');
    };
    const look = (process: Process, inScope: boolean): Promise<void> => {
      const before = new Map(acknowledged);
      const looked = [any(streams), any(streams), 'c5', 'c4'];
      const all = async (): Promise<void> => {
        const seen: number[] = [];
        for (const id of looked) {
          const { state } = await process.decisions.load(counter, id);
          if (state < (before.get(id) ?? 0))
            wrong.push(`${id} shows ${state}, ${before.get(id)} were acknowledged before`);
          seen.push(state);
        }
        if ((seen[3] as number) < (seen[2] as number)) wrong.push(`a pair shows ${seen[3]} behind ${seen[2]}`);
      };
      return inScope ? inReadScope(all) : all();
    };
    let pairs = Promise.resolve();
    const act = (): Promise<void> => {
      const process = any(processes);
      const drawn = next(10);
      if (drawn < 2)
        return write(process, any(streams.slice(0, 4))).catch((error: { code?: string }) =>
          error.code === 'conflict' ? undefined : Promise.reject(error),
        );
      if (drawn < 3) return (pairs = pairs.then(() => writePair(process)));
      return look(process, drawn < 9);
    };
    const many = rounds(60);
    for (let round = 0; round < many && wrong.length === 0; round += 1)
      await Promise.all(Array.from({ length: 12 }, act));
    expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    await Promise.all(processes.map(({ log }) => log.close()));
    await server.stop();
  });

  it(
    'answers for all streams at once: one read where nothing moved, one more for each stream that did',
    withTwo(async ({ first, second, proxy }) => {
      const all = ['a', 'b', 'c', 'd'];
      for (const id of all) await second.add(id);
      const loadAll = () =>
        inReadScope(async () => Promise.all(all.map(async (id) => (await first.decisions.load(counter, id)).state)));
      expect(await loadAll()).toEqual([1, 1, 1, 1]);
      await first.index.ask();
      expect(await readsOf(proxy, loadAll)).toBe(1);
      await second.add('b');
      expect(await readsOf(proxy, async () => expect(await loadAll()).toEqual([1, 2, 1, 1]))).toBe(2);
      expect(await readsOf(proxy, loadAll)).toBe(1);
    }),
  );

  it.each([false, true])(
    'takes the place of an append that stood before for no end of its stream, followed beyond it: %s',
    (isFollowed) =>
      withTwo(async ({ first, second }) => {
        const [event, later] = newEvents(2) as [NewEvent, NewEvent];
        await second.log.append('counter-r', [event], 'noStream');
        await second.log.append('counter-r', [later], 0);
        if (isFollowed) await first.index.ask();
        const { promise: isRepeated, resolve: repeated } = Promise.withResolvers<void>();
        const looked = inReadScope(async () => {
          await isRepeated;
          return first.log.endOf('counter-r');
        });
        expect(await first.log.append('counter-r', [event], 'noStream')).toMatchObject({ revision: 0 });
        repeated();
        expect([undefined, 1]).toContain(await looked);
        expect(await inReadScope(() => first.index.confirm('counter-r', 0))).toBe(false);
      })(),
  );

  it(
    'is shared by all who wait, and by nobody who comes after it was asked',
    withTwo(async ({ first, second, proxy, server }) => {
      await second.add('a');
      await first.count('a');
      await first.index.ask();
      expect(
        await readsOf(proxy, () => Promise.all(Array.from({ length: 200 }, () => first.count('a')))),
      ).toBeLessThanOrEqual(2);
      server.faults.delayMs = 20;
      const early = first.count('a');
      await second.add('a');
      const late = await first.count('a');
      await early;
      expect(late).toBe(2);
    }),
  );

  it(
    'knows where streams end only where it was asked for the work that runs',
    withTwo(async ({ first }) => {
      await first.add('a');
      await first.index.ask();
      expect(first.log.endOf('counter-a')).toBeUndefined();
      await inReadScope(async () => {
        expect(first.log.endOf('counter-a')).toBeUndefined();
        await first.index.ask();
        expect(first.log.endOf('counter-a')).toBe(0);
        renewReadScope();
        expect(first.log.endOf('counter-a')).toBeUndefined();
      });
    }),
  );

  it(
    'is asked anew behind an append, be it taken or rejected, and where more was read than was asked for',
    withTwo(async ({ first, second }) => {
      for (const id of ['a', 'b']) await first.add(id);
      await inReadScope(async () => {
        await first.decisions.load(counter, 'a');
        await first.index.ask();
        expect(first.log.endOf('counter-a')).toBe(0);
        await first.log.append('counter-c', newEvents(1), 'noStream');
        expect(first.log.endOf('counter-a')).toBeUndefined();
        await first.index.ask();
        await expect(first.log.append('counter-a', newEvents(1), 'noStream')).rejects.toMatchObject({
          name: 'WrongExpectedRevision',
        });
        expect(first.log.endOf('counter-a')).toBeUndefined();
        await first.index.ask();
        await second.add('b');
        await first.log.readStream('counter-b');
        expect(first.log.endOf('counter-a')).toBeUndefined();
      });
    }),
  );

  it(
    'goes by what it followed, not by its own appends, which may stand behind those of others',
    withTwo(async ({ first, second, proxy }) => {
      for (const id of ['a', 'b']) await first.add(id);
      await first.count('a');
      await second.add('a');
      await first.add('b');
      expect(await first.count('a')).toBe(2);
      // Its own are known without a read of the stream.
      await first.add('b');
      expect(await readsOf(proxy, async () => expect(await first.count('b')).toBe(3))).toBe(1);
    }),
  );

  it(
    'loses nothing that moves while a stream is read or written',
    withTwo(async ({ first, second }) => {
      await second.add('a');
      await first.index.ask();
      const ended = first.index.watch('counter-a');
      await second.add('a');
      await first.index.ask();
      ended(0);
      await inReadScope(async () => {
        await first.index.ask();
        expect(first.log.endOf('counter-a')).toBe(1);
      });
    }),
  );

  it(
    'serves nobody by an answer to what was asked before they began, though it comes after',
    withTwo(async ({ first, second, proxy }) => {
      for (const id of ['a', 'b']) await first.add(id);
      await first.index.ask();
      const { reads } = proxy.calls;
      const releaseAnswer = proxy.hold('reads');
      const early = first.index.ask();
      await until(() => proxy.calls.reads > reads);
      await second.add('a');
      await inReadScope(async () => {
        releaseAnswer();
        await early;
        expect(first.log.endOf('counter-a')).toBeUndefined();
      });

      const { appends } = proxy.calls;
      const releaseAppend = proxy.hold('appends');
      const own = first.add('b');
      await until(() => proxy.calls.appends > appends);
      await until(async () => (await second.count('b')) === 2);
      await second.add('b');
      await inReadScope(async () => {
        releaseAppend();
        await own;
        expect(first.log.endOf('counter-b')).toBeUndefined();
        expect((await first.decisions.load(counter, 'b')).state).toBe(3);
      });
    }),
  );

  it(
    'takes what others write for what it is',
    withTwo(async ({ proxy, server }) => {
      const process = processOn(proxy.url, new EventCatalogue([Counted], ['counter']));
      await process.add('a');
      const head = await process.log.head();
      await writeForeign(server.url, [...foreignEvents(), intruderIn('counter-a')]);
      expect([await process.count('a'), await process.log.head()]).toEqual([1, head]);
      const reads = await readsOf(proxy, async () =>
        expect([await process.log.head(), await process.count('b')]).toEqual([head, 0]),
      );
      expect(reads).toBe(2);
      await process.add('b');
      expect(await process.log.head()).not.toBe(head);
      await process.log.close();
    }),
  );
});

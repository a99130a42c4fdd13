import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { noLag, startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { withRestoredServer } from '../../../../test/fixtures/restored-server';
import { until } from '../../../../test/fixtures/until';
import { newEvents } from '../contract/log-under-test.contract';
import { type Process, processOn } from './processes.contract';

describe('a read index of a server that was restored from an older backup', () => {
  const restored = async (
    body: (given: {
      first: Process;
      second: () => Process;
      restore: () => Promise<void>;
      save: () => Promise<void>;
    }) => Promise<void>,
  ): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'restored-'));
    const [file, backup] = [join(folder, 'log'), join(folder, 'backup')];
    let server = await startEventStoreDouble({ file, lag: noLag });
    const { url, port } = server;
    const first = processOn(url);
    const others: Process[] = [];
    try {
      await body({
        first,
        second: () => others[others.push(processOn(url)) - 1] as Process,
        save: async () => copyFileSync(file, backup),
        restore: async () => {
          await server.stop();
          copyFileSync(backup, file);
          server = await startEventStoreDouble({ file, port, lag: noLag });
        },
      });
    } finally {
      await Promise.all([first, ...others].map(({ log }) => log.close()));
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  };

  it('drops all that was remembered, and goes on from what is there', () =>
    restored(async ({ first, second, save, restore }) => {
      for (const id of ['a', 'b']) await first.add(id);
      await save();
      for (let more = 0; more < 3; more += 1) await first.add('a');
      await second().add('b');
      expect([await first.count('a'), await first.count('b')]).toEqual([4, 2]);
      const { timeline } = first.index;
      await restore();
      expect([await first.count('a'), await first.count('b')]).toEqual([1, 1]);
      expect(first.index.timeline).toBeGreaterThan(timeline);
      await first.add('a');
      expect([await first.count('a'), await second().count('a')]).toEqual([2, 2]);
    }));

  it('sees that too where the server has gone on since, further than before', () =>
    restored(async ({ first, second, save, restore }) => {
      await first.add('a');
      await save();
      for (let more = 0; more < 3; more += 1) await first.add('a');
      await first.count('a');
      await restore();
      const other = second();
      for (let more = 0; more < 9; more += 1) await other.add('b');
      expect([await first.count('a'), await first.count('b')]).toEqual([1, 9]);
      expect(await first.log.head()).toBe(await other.log.head());
    }));

  it('finds that once, however many questions are under way', () =>
    restored(async ({ first, save, restore }) => {
      await first.add('a');
      await save();
      await first.add('a');
      await first.count('a');
      const { timeline } = first.index;
      await restore();
      const questions = [first.index.ask()];
      // The first has begun then, and another one begins.
      await nextTurn();
      await nextTurn();
      questions.push(first.index.ask());
      await Promise.all(questions);
      expect(first.index.timeline).toBe(timeline + 1);
    }));

  it('forgets what was removed, and learns it anew', () =>
    restored(async ({ first, save, restore }) => {
      await first.log.append('x-1', newEvents(3), 'noStream');
      await first.log.truncate('x-1', 1);
      await save();
      await first.log.truncate('x-1', 3);
      expect((await first.log.readAll()).events).toEqual([]);
      await restore();
      expect((await first.log.readAll()).events.map(({ revision }) => revision)).toEqual([1, 2]);
    }));

  it('says where the log ended then, also where it goes on far before it is asked', () =>
    restored(async ({ first, second, save, restore }) => {
      await first.add('a');
      await save();
      await first.add('a');
      await first.count('a');
      await restore();
      const end = await first.index.end();
      const other = second();
      // More than one answer has: it is followed from its new end.
      for (let page = 0; page < 5; page += 1) await other.log.append(`x-${page}`, newEvents(500), 'noStream');
      expect(await first.index.end()).toBe(end);
      expect(await first.log.head()).not.toBe(end);
    }));
});

describe('a follower in memory of a server that was restored from an older backup', () => {
  /** Follows until the restore is noticed, and then one more event. */
  const followed = (meanwhile: number): Promise<void> =>
    withRestoredServer(async ({ log, save, restore }) => {
      const received: string[] = [];
      const ends: (string | null)[] = [];
      const append = async (stream: string, count: number): Promise<void> =>
        void (await log.append(stream, newEvents(count), 'noStream'));
      await append('x-1', 1);
      save();
      const subscription = log.subscribe({
        name: 'in memory',
        after: null,
        onRestored: (end) => void ends.push(end),
        onEvents: async (events) => void received.push(...events.map(({ stream }) => stream)),
      });
      await append('x-2', 9);
      await until(() => received.length === 10, 'what is lost');
      const before = await log.head();
      await restore((other) => other.append('x-3', newEvents(meanwhile), 'noStream'));
      // Any request of the process finds it.
      const end = await log.head();
      await until(() => ends.length === 1, 'the notice');
      // An event of the server's own may be the last.
      expect((ends[0] ?? '') >= (end ?? '')).toBe(true);
      expect((end ?? '') > (before ?? '')).toBe(meanwhile > 9);
      await append('x-4', 1);
      await until(() => received.at(-1) === 'x-4', 'what comes next');
      expect(subscription.position).toBe(await log.head());
      expect(ends).toHaveLength(1);
    });

  it('is told, and goes on from its end, which stands before the place of the follower', () => followed(2));

  it('is told too where the log has gone on beyond that place', () => followed(30));
});

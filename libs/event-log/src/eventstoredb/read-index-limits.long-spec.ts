import { inReadScope } from '@app/kernel';
import { GONE_MS, TimeLimit } from '../../../../test/faults/eventstore/history';
import { ownTime } from '../../../../test/fixtures/own-time';
import { newEvents } from '../contract/log-under-test.contract';
import { type Process, readsOf, withTwo } from './processes.contract';
import { waitingFor } from './with-server.contract';

describe('a read index, at its limits', () => {
  it(
    'learns nothing of a stream that was read before it began anew',
    withTwo(async ({ first, second }) => {
      await second.add('a');
      await first.index.ask();
      const ended = first.index.watch('counter-a');
      await second.add('a');
      for (let page = 0; page < 5; page += 1) await second.log.append(`other-${page}`, newEvents(500), 'noStream');
      await first.index.ask();
      ended(0);
      await inReadScope(async () => {
        await first.index.ask();
        expect(first.log.endOf('counter-a')).toBeUndefined();
      });
    }),
  );

  it(
    'asks a log that has nothing new, and one where the server alone wrote, as quickly',
    withTwo(async ({ first, second, proxy }) => {
      await first.add('a');
      const head = await first.log.head();
      for (let revision = 0; revision < 30; revision += 1) {
        await second.add('b');
        await second.log.truncate('counter-b', revision);
      }
      await second.log.append('counter-c', newEvents(1), 'noStream');
      const newest = await first.log.head();
      expect(newest).not.toBe(head);
      // Metadata and the list of removals are the server's own: the end of our events is not theirs.
      await second.log.truncate('counter-c', 1);
      expect(await first.log.head()).toBe(newest);
      await first.index.ask();
      const { answers } = proxy.calls;
      for (let round = 0; round < 10; round += 1) await first.index.ask();
      expect(proxy.calls.answers - answers).toBe(10);
    }),
  );

  it(
    'begins anew at the end of a log that went on far, and is right all the same',
    withTwo(async ({ first, second, proxy }) => {
      await first.add('a');
      await second.add('a');
      expect(await first.count('a')).toBe(2);
      for (let page = 0; page < 5; page += 1) await second.log.append(`other-${page}`, newEvents(500), 'noStream');
      await second.add('a');
      expect(await readsOf(proxy, async () => expect(await first.count('a')).toBe(3))).toBeLessThanOrEqual(6);
      await second.add('a');
      expect(await readsOf(proxy, async () => expect(await first.count('a')).toBe(4))).toBeLessThanOrEqual(2);
    }),
  );

  it(
    'remembers a bounded number of streams',
    withTwo(async ({ first, second }) => {
      await first.add('a');
      await inReadScope(async () => {
        await first.index.ask();
        expect(first.log.endOf('counter-a')).toBe(0);
        for (let stream = 0; stream < 50_000; stream += 1) first.index.watch(`s-${stream}`)(0);
        expect(first.log.endOf('counter-a')).toBeUndefined();
      });
      await second.add('a');
      expect(await first.count('a')).toBe(2);
    }),
  );

  /** Milliseconds that twenty who come one after the other wait until they are told that there is no answer. */
  const waitsFor = async ({ index }: Process): Promise<readonly number[]> => {
    const asked: Promise<number>[] = [];
    for (let round = 0; round < 20; round += 1) {
      const took = ownTime();
      asked.push(
        index.ask().then(
          () => Number.NaN,
          (error: Error) => (error.name === 'Unavailable' ? took() : Number.NaN),
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return Promise.all(asked);
  };

  it(
    'tells those who wait within two seconds that a server is gone, however many come',
    withTwo(async ({ second, server }) => {
      await second.add('a');
      await server.stop();
      const limit = new TimeLimit(GONE_MS);
      const waits = await waitsFor(second);
      expect(waits).toHaveLength(20);
      for (const wait of waits) expect(wait).toBeLessThan(limit.most);
      await server.restart();
      await second.index.ask();
    }),
  );

  it(
    'keeps those who wait for a silent server no longer than each may wait, and others no longer for them',
    withTwo(async ({ first, server }) => {
      await first.add('a');
      server.faults.isSilent = true;
      const patient = first.index.ask().then(
        () => 0,
        () => performance.now(),
      );
      const limit = new TimeLimit(4_000);
      const waits = await waitingFor(1_000, () => waitsFor(first));
      for (const wait of waits) expect(wait).toBeLessThan(limit.most);
      server.faults.isSilent = false;
      const began = performance.now();
      const took = ownTime();
      await first.index.ask();
      expect(took()).toBeLessThan(4_000);
      expect(await patient).toBeGreaterThan(began);
    }),
  );
});

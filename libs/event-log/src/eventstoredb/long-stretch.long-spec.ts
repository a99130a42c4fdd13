import { randomUUID } from 'node:crypto';
import { isUnavailable, type StoredEvent } from '@app/kernel';
import { until } from '../../../../test/fixtures/until';
import { ANY } from '../../../../test/servers/eventstoredb/commit-check';
import { noLag, noPauses, startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { ServerLog } from '../../../../test/servers/eventstoredb/server-log';
import type { LogPage } from '../event-log';
import { newEvents } from '../contract/log-under-test.contract';
import { processOn } from './processes.contract';

/** Links that projections wrote in a row, and how long a server looks at 32 of them: 38 s in all, longer than any read waits. */
const LINKS = 6_000;
const SEARCH_MS = 200;
/** A page waits for 9.5 s before it is read in another way. */
const LONG_MS = 60_000;

const links = (count: number) =>
  Array.from({ length: count }, () => ({
    id: randomUUID(),
    type: '$>',
    isJson: false,
    data: Buffer.from('0@counter-a'),
    metadata: Buffer.alloc(0),
  }));

describe('more events of the server’s own in a row than it can look through in time', () => {
  const withStretch = async (body: (process: ReturnType<typeof processOn>) => Promise<void>): Promise<void> => {
    const log = new ServerLog(undefined, noLag);
    log.start();
    const server = await startEventStoreDouble({ log, pauses: noPauses });
    const before = processOn(server.url);
    await before.add('a');
    await before.log.close();
    log.append('$ce-counter', ANY, links(LINKS), () => undefined);
    server.faults.searchMs = SEARCH_MS;
    const process = processOn(server.url);
    try {
      await body(process);
    } finally {
      await process.log.close();
      await server.stop();
      log.close();
    }
  };

  it('are no reason not to read and write', () =>
    withStretch(async ({ add, count, log, index }) => {
      await index.ask();
      expect(await log.health()).toEqual({ writable: true, readable: true });
      await add('a');
      expect(await count('a')).toBe(2);
      await log.append('b-1', newEvents(1), 'noStream');
      expect(await log.head()).toBe((await log.readStream('b-1'))[0]?.position);
    }));

  it(
    'are passed by those who follow, and by who looks for the last event',
    () =>
      withStretch(async ({ add, log }) => {
        const seen: string[] = [];
        let end = false;
        const following = log.subscribe({
          name: 'follower',
          after: null,
          onEvents: async (events) => void seen.push(...events.map(({ stream }) => stream)),
          onCaughtUp: () => void (end = true),
        });
        // It is late, and says nothing else, until the stretch is looked through.
        const head = async (): Promise<unknown> =>
          log.head().catch((error: unknown) => {
            if (!isUnavailable(error)) throw error;
          });
        let found: unknown;
        await until(async () => (found = await head()) !== undefined, 'the last event', { patience: LONG_MS });
        expect(found).toBe((await log.readStream('counter-a'))[0]?.position);
        await until(() => end, 'the end of the log', { patience: LONG_MS });
        await add('a');
        await until(() => seen.length > 1, 'what comes next', { patience: LONG_MS });
        expect(seen).toEqual(['counter-a', 'counter-a']);
        const read: StoredEvent[] = [];
        for (let page: LogPage | undefined; page?.end !== true; read.push(...page.events))
          page = await log.readAll({ direction: 'backwards', after: page?.next ?? null });
        expect(read.map(({ revision }) => revision)).toEqual([1, 0]);
        await following.stop();
      }),
    2 * LONG_MS,
  );
});

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as lasting } from 'node:timers/promises';
import type { Unavailable } from '@app/kernel';
import { ownTime } from '../../../../test/fixtures/own-time';
import { until } from '../../../../test/fixtures/until';
import { startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { openEventStoreLog } from '..';
import { newEvent, newEvents } from '../contract/log-under-test.contract';
import { waitingFor, withServer } from './with-server.contract';

const CALLERS = 64;
/** Longer than a server was seen to pause, and than calls waited before. */
const PAUSE_MS = 2_500;

/** A network before a server that lets through, once it is thin, 20 KB every 200 ms. */
const thinNetwork = async (server: number) => {
  const sockets = new Set<Socket>();
  let isThin = false;
  const thinned = (): Transform =>
    new Transform({
      highWaterMark: 20_000,
      transform(chunk: Buffer, _encoding, done) {
        this.push(chunk);
        if (isThin) setTimeout(done, chunk.length / 100);
        else done();
      },
    });
  const listening = createServer((client) => {
    const upstream = connect(server, '127.0.0.1');
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined));
    client.pipe(upstream).pipe(thinned()).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const stop = (): void => {
    for (const socket of sockets) socket.destroy();
    listening.close();
  };
  return { port: (listening.address() as AddressInfo).port, thin: () => void (isThin = true), stop };
};

describe('EventStoreDB that pauses under load', () => {
  const times = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

  it(
    'is waited for: all that was asked is answered, and nothing is sent again',
    withServer(async (log, server) => {
      await log.append('read-1', newEvents(3), 'noStream');
      const [sent, read] = [server.received('Streams/BatchAppend'), server.received('Streams/Read')];
      server.faults.isPaused = true;
      const appends = times(CALLERS).map((index) =>
        log.append(`a-${index}`, newEvents(1), index % 2 === 0 ? 'noStream' : 'any'),
      );
      const reads = times(CALLERS).map(() => log.readStream('read-1'));
      await lasting(PAUSE_MS);
      server.faults.isPaused = false;

      expect((await Promise.all(appends)).every(({ revision }) => revision === 0)).toBe(true);
      expect((await Promise.all(reads)).every((events) => events.length === 3)).toBe(true);
      expect([server.received('Streams/BatchAppend') - sent, server.received('Streams/Read') - read]).toEqual([
        CALLERS,
        CALLERS,
      ]);
    }),
  );

  it(
    'may have taken what was given up; it is told so, and a repeat is answered as the first time',
    withServer(async (log, server) => {
      const events = newEvents(2);
      await log.append('a-0', newEvents(1), 'noStream');
      server.faults.isPaused = true;
      await expect(waitingFor(500, () => log.append('a-1', events, 'noStream'))).rejects.toMatchObject({
        name: 'Unavailable',
        outcome: 'unknown',
      });
      server.faults.isPaused = false;
      await log.append('a-1', newEvents(1), 1);

      expect(await log.append('a-1', events, 'noStream')).toMatchObject({ revision: 1 });
      expect(await log.readStream('a-1')).toHaveLength(3);
    }),
  );

  it(
    'is asked nothing that nobody waits for any more when a connection comes about',
    withServer(async (log, server) => {
      await log.append('a-1', newEvents(1), 'noStream');
      await server.stop();
      await until(async () => !(await log.health()).readable, 'the loss of the connection');
      const given = await Promise.allSettled(
        times(CALLERS).map((index) =>
          waitingFor(300, () => (index % 2 === 0 ? log.readStream('a-1') : log.append('a-1', newEvents(1), 'any'))),
        ),
      );
      expect(given.map((outcome) => outcome.status === 'rejected' && (outcome.reason as Unavailable).outcome)).toEqual(
        times(CALLERS).map(() => 'none'),
      );
      const [appended, read] = [server.received('Streams/BatchAppend'), server.received('Streams/Read')];
      await server.restart();

      expect(await log.readStream('a-1')).toHaveLength(1);
      expect([server.received('Streams/BatchAppend'), server.received('Streams/Read')]).toEqual([appended, read + 1]);
    }),
  );

  it(
    'makes the steps of a request wait no longer than all of it may',
    withServer(async (log, server) => {
      await log.append('a-1', newEvents(1), 'noStream');
      server.faults.delayMs = 400;
      const started = performance.now();
      const took = ownTime();
      const steps = waitingFor(1_000, async () => {
        for (let revision = 0; ; revision += 1) await log.append('a-1', newEvents(1), revision);
      });

      await expect(steps).rejects.toMatchObject({
        name: 'Unavailable',
        outcome: 'unknown',
        reason: 'the server did not answer in time',
      });
      expect(performance.now() - started).toBeGreaterThan(900);
      expect(took()).toBeLessThan(4_000);
    }),
  );

  it('hands over little by little: what a request reads takes no longer than the request may', async () => {
    const server = await startEventStoreDouble();
    const network = await thinNetwork(server.port);
    const log = await openEventStoreLog({ url: `esdb://127.0.0.1:${network.port}?tls=false` });
    const large = times(40).map(() => newEvent({ data: `"${'x'.repeat(20_000)}"` }));
    await log.append('a-1', large, 'noStream');
    network.thin();
    const clock = ownTime();
    const outcome = await waitingFor(1_000, () => log.readStream('a-1')).then(
      (events) => events.length,
      (error: Unavailable) => error.reason,
    );
    const took = clock();
    network.stop();
    await log.close();
    await server.stop();

    expect(outcome).toBe('the server did not answer in time');
    expect(took).toBeLessThan(4_000);
  });

  it(
    'now and then, goes on being written and read',
    withServer(
      async (log, server) => {
        let slowest = 0;
        const ends = performance.now() + 6_000;
        const writers = times(CALLERS).map(async (index) => {
          for (let revision = -1; performance.now() < ends; revision += 1) {
            const started = performance.now();
            await log.append(`a-${index}`, newEvents(1), revision < 0 ? 'noStream' : revision);
            slowest = Math.max(slowest, performance.now() - started);
          }
        });
        await Promise.all(writers);

        expect(slowest).toBeGreaterThan(1_000);
        expect(server.received('Streams/BatchAppend')).toBe((await log.readAll({ limit: 100_000 })).events.length);
      },
      { pauses: { every: 2_000, least: 1_000, most: 1_900 } },
    ),
  );
});

import { jsonEvent } from '@eventstore/db-client';
import { ownTime } from '../../../../test/fixtures/own-time';
import { until } from '../../../../test/fixtures/until';
import type { LogCorrupted } from '../event-log';
import { newEvents } from '../contract/log-under-test.contract';
import { asServerSeesIt, waitingFor, withClient, withServer } from './with-server.contract';

describe('reads on EventStoreDB', () => {
  it(
    'never show streams of the server',
    withServer(async (log, server) => {
      await log.append('a-1', newEvents(2), 'noStream');
      await log.truncate('a-1', 1);
      const head = await log.head();

      expect(
        (await asServerSeesIt(server.url)).map(({ stream }) => stream).some((stream) => stream.startsWith('$')),
      ).toBe(true);
      const { events, next, end } = await log.readAll();
      expect(events.map(({ stream, revision }) => [stream, revision])).toEqual([['a-1', 1]]);
      expect([next, end]).toEqual([head, true]);
      expect(await log.readStream('$$a-1')).toEqual([]);
      await expect(log.append('$$a-1', newEvents(1), 'any')).rejects.toMatchObject({ name: 'InvalidAppend' });
    }),
  );

  it(
    'begin empty',
    withServer(async (log) => {
      expect(await log.head()).toBeNull();
      expect(await log.readAll()).toEqual({ events: [], next: null, end: true });
      expect(await log.readAll({ direction: 'backwards' })).toEqual({ events: [], next: null, end: true });
      expect(await log.health()).toEqual({ writable: true, readable: true });
    }),
  );

  it(
    'reject a position that the log never gave out',
    withServer(async (log) => {
      await log.append('a-1', newEvents(3), 'noStream');
      await expect(log.readAll({ after: '12' })).rejects.toThrow(RangeError);
      await expect(log.readAll({ after: '00000000000000000007' })).rejects.toThrow(RangeError);
      // More than 63 bits: the server has none of them, and 2 ** 64 would be sent as its beginning.
      for (const at of ['09223372036854775808', '18446744073709551616', '99999999999999999999']) {
        await expect(log.readAll({ after: at })).rejects.toThrow(RangeError);
        await expect(log.readAll({ after: at, direction: 'backwards' })).rejects.toThrow(RangeError);
        await expect(log.eventAt(at)).rejects.toThrow(RangeError);
      }
    }),
  );

  it(
    'of a position where no event of ours begins find none, or reject it',
    withServer(async (log, server) => {
      const inside = await log.append('a-1', newEvents(1), 'noStream');
      await log.append('a-1', newEvents(1), 0);
      const servers = await withClient(server.url, async (client) => {
        const { position } = await client.setStreamMetadata('a-1', { custom: 'yes' });
        return String(position?.commit).padStart(inside.position.length, '0');
      });
      await log.append('a-1', newEvents(1), 1);

      await expect(log.eventAt(String(BigInt(inside.position) + 1n).padStart(20, '0'))).rejects.toThrow(RangeError);
      expect(await log.eventAt(servers)).toBeUndefined();
      expect(await log.eventAt(inside.position)).toMatchObject({ stream: 'a-1', revision: 0 });
    }),
  );

  it(
    'of a stream whose beginning is hidden by a limit that somebody set end with the place',
    withServer(async (log, server) => {
      await log.append('a-1', newEvents(3), 'noStream');
      await log.append('b-1', newEvents(3), 'noStream');
      await log.truncate('b-1', 2);
      await withClient(server.url, async (client) => {
        await client.setStreamMetadata('a-1', { maxCount: 2 });
        await client.setStreamMetadata('c-1', { maxCount: 2 });
      });
      await log.append('c-1', newEvents(2), 'noStream');

      await expect(log.readStream('a-1')).rejects.toMatchObject({
        name: 'LogCorrupted',
        place: 'a-1@0',
        detail: expect.stringContaining('take $maxCount out'),
      });
      expect((await log.readStream('a-1', { from: 1 })).map(({ revision }) => revision)).toEqual([1, 2]);
      expect((await log.readStream('b-1')).map(({ revision }) => revision)).toEqual([2]);
      expect(await log.readStream('c-1')).toHaveLength(2);
      await log.append('c-1', newEvents(1), 1);
      await expect(log.readStream('c-1')).rejects.toMatchObject({ name: 'LogCorrupted' });
      await withClient(server.url, (client) => client.setStreamMetadata('c-1', { maxAge: 1 }));
      await until(
        () =>
          log.readStream('c-1').then(
            () => false,
            ({ detail }: Partial<LogCorrupted>) => detail?.includes('hide all its events: take $maxAge out') === true,
          ),
        'the age',
      );
      expect(await log.readStream('d-1')).toEqual([]);
    }),
  );

  it(
    'show what others wrote, as JSON',
    withServer(async (log, server) => {
      await withClient(server.url, (client) =>
        client.appendToStream(
          'theirs-1',
          jsonEvent({ id: '0190a0b0-0000-7000-8000-000000000003', type: 'Theirs', data: { a: 1 } }),
        ),
      );

      expect((await log.readAll()).events).toMatchObject([{ type: 'Theirs', data: '{"a":1}', metadata: '' }]);
    }),
  );

  it(
    'end when their request has waited for long enough, and wait for a server that comes back',
    withServer(async (log, server) => {
      await log.append('a-1', newEvents(2), 'noStream');
      server.faults.isSilent = true;
      const took = ownTime();
      await expect(waitingFor(1_000, () => log.readStream('a-1'))).rejects.toMatchObject({
        name: 'Unavailable',
        outcome: 'none',
        reason: 'the server did not answer in time',
      });
      expect(took()).toBeLessThan(4_000);

      server.faults.isSilent = false;
      const reading = server.restart().then(() => log.readStream('a-1'));
      expect(await reading).toHaveLength(2);
    }),
  );

  it(
    'are rejected after the log was closed',
    withServer(async (log) => {
      await log.close();

      await expect(log.append('a-1', newEvents(1), 'any')).rejects.toMatchObject({
        name: 'Unavailable',
        outcome: 'none',
      });
      await expect(log.readStream('a-1')).rejects.toMatchObject({ name: 'Unavailable' });
      expect(await log.health()).toMatchObject({ writable: false, readable: false });
    }),
  );
});

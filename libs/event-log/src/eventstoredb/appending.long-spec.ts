import { ownTime } from '../../../../test/fixtures/own-time';
import { startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { openEventStoreLog } from '..';
import { newEvent, newEvents } from '../contract/log-under-test.contract';
import { asServerSeesIt, waitingFor, withClient, withServer } from './with-server.contract';

describe('appends on EventStoreDB', () => {
  it(
    'are found again when their answer was lost, which is known by that to a later one',
    withServer(async (log, server) => {
      server.faults.dropAcknowledgements = 1;
      const events = newEvents(2);

      const appending = log.append('a-1', events, 'noStream');
      await log.append('a-2', newEvents(1), 'noStream');
      const answer = await appending;

      expect(answer.revision).toBe(1);
      expect((await log.readStream('a-1')).map(({ id, position }) => [id, position]).at(-1)).toEqual([
        events[1]?.id,
        answer.position,
      ]);
    }),
  );

  it.each(['any', 'streamExists'] as const)(
    'at `%s` are sent once, and their outcome is unknown when the answer is lost',
    (expected) =>
      withServer(async (log, server) => {
        await log.append('a-1', newEvents(1), 'noStream');
        server.faults.dropAcknowledgements = 1;

        const [appended] = await Promise.allSettled([
          log.append('a-1', newEvents(1), expected),
          log.append('a-2', newEvents(1), 'noStream'),
        ]);

        expect(appended).toMatchObject({
          reason: { name: 'Unavailable', outcome: 'unknown', reason: 'the answer of the server was lost' },
        });

        expect(await log.readStream('a-1')).toHaveLength(2);
      })(),
  );

  it(
    'at `any` wait for a server that is not ready: it says that it wrote nothing',
    withServer(async (log, server) => {
      let asked = 0;
      Object.defineProperty(server.faults, 'refusal', {
        get: () => ((asked += 1) <= 2 ? 'Server Is Not Ready' : null),
      });

      expect((await log.append('a-1', newEvents(1), 'any')).revision).toBe(0);
      expect(asked).toBeGreaterThan(2);
    }),
  );

  it(
    'end when their request has waited for long enough, and are settled by a repeat later',
    withServer(async (log, server) => {
      const events = newEvents(1);
      await log.append('a-0', newEvents(1), 'noStream');
      server.faults.isSilent = true;
      const took = ownTime();

      await expect(waitingFor(1_000, () => log.append('a-1', events, 'noStream'))).rejects.toMatchObject({
        name: 'Unavailable',
        outcome: 'unknown',
        reason: 'the server did not answer in time',
      });

      expect(took()).toBeLessThan(4_000);
      server.faults.isSilent = false;
      server.disconnect();
      expect((await log.append('a-1', events, 'noStream')).revision).toBe(0);
      expect(await log.readStream('a-1')).toHaveLength(1);
    }),
  );

  it(
    'are found again when the server threw, as it does where it is stopped',
    withServer(async (log, server) => {
      await log.append('a-0', newEvents(1), 'noStream');
      server.faults.handlerThrows = 1;
      expect((await log.append('a-1', newEvents(2), 'noStream')).revision).toBe(1);
      server.faults.handlerThrows = 1;
      expect(await log.readStream('a-1')).toHaveLength(2);
      server.faults.handlerThrows = 1;
      await expect(log.append('a-1', newEvents(1), 'any')).rejects.toMatchObject({ outcome: 'unknown' });
      expect(await log.readStream('a-1')).toHaveLength(3);
    }),
  );

  it(
    'are rejected while too much waits for a server that says nothing, and later are not',
    withServer(async (log, server) => {
      const large = () => newEvent({ data: `"${'x'.repeat(1_000_000)}"` });
      await log.append('a-0', newEvents(1), 'noStream');
      server.faults.isPaused = true;
      const appends = Array.from({ length: 80 }, (_, index) => log.append(`b-${index}`, [large()], 'noStream'));
      const outcomes = Promise.allSettled(appends);
      await expect(log.append('a-1', newEvents(1), 'noStream')).rejects.toMatchObject({
        outcome: 'none',
        reason: 'too many appends are waiting for the server',
      });
      server.faults.isPaused = false;

      // One that a busy machine is late to send is rejected as late, not for what waits.
      const rejected = (await outcomes).filter(
        (outcome) => outcome.status === 'rejected' && /too many appends/.test(String(outcome.reason)),
      );
      expect(rejected.length).toBeGreaterThan(10);
      expect(rejected.length).toBeLessThan(20);
      expect((await log.append('a-1', [large()], 'noStream')).revision).toBe(0);
    }),
  );

  it(
    'pass over a second answer',
    withServer(async (log, server) => {
      server.faults.answerTwice = 3;
      for (let revision = -1; revision < 5; revision += 1)
        await log.append('a-1', newEvents(1), revision < 0 ? 'noStream' : revision);

      expect(await log.readStream('a-1')).toHaveLength(6);
    }),
  );

  it(
    'go on beside a second log that fails and is closed',
    withServer(async (log) => {
      const other = await startEventStoreDouble();
      const second = await openEventStoreLog({ url: other.url });
      await second.append('b-1', newEvents(1), 'noStream');
      const appending = Promise.all(
        Array.from({ length: 50 }, (_, index) => log.append(`a-${index}`, newEvents(1), 'noStream')),
      );
      other.disconnect();
      await second.close();

      expect((await appending).every(({ revision }) => revision === 0)).toBe(true);
      await other.stop();
    }),
  );

  it(
    'keep bytes as they are, called JSON',
    withServer(async (log, server) => {
      const event = newEvent({
        data: '{ "b" : 1.0, "a":  [1e3, "\\u00fc ü"], "a": null}',
        metadata: ' {"2":"x","1":"y"}',
      });
      await log.append('a-1', [event], 'noStream');

      expect(await log.readStream('a-1')).toMatchObject([event]);
      expect((await log.readAll()).events).toMatchObject([event]);
      expect(await asServerSeesIt(server.url)).toContainEqual({ stream: 'a-1', type: 'Noted', isJson: true });
    }),
  );

  it(
    'are rejected by the limit that the server is set to',
    withServer(
      async (log) => {
        await expect(
          log.append('a-1', [newEvent({ data: `"${'x'.repeat(2_000)}"` })], 'noStream'),
        ).rejects.toMatchObject({ name: 'DomainError', code: 'too_large', facts: { limit: 1_000 } });
        expect((await log.append('a-1', newEvents(1), 'noStream')).revision).toBe(0);
      },
      { maxAppendSize: 1_000 },
    ),
  );

  it(
    'are rejected by the limit of one event, which KurrentDB has too',
    withServer(
      async (log) => {
        await expect(
          log.append('a-1', [newEvent(), newEvent({ data: `"${'x'.repeat(2_000)}"` })], 'noStream'),
        ).rejects.toMatchObject({ name: 'DomainError', code: 'too_large', facts: { limit: 1_000 } });
        expect((await log.append('a-1', newEvents(1), 'noStream')).revision).toBe(0);
      },
      { maxEventSize: 1_000 },
    ),
  );

  it(
    'to a stream that somebody deleted for ever are rejected',
    withServer(async (log, server) => {
      await log.append('a-1', newEvents(1), 'noStream');
      await withClient(server.url, (client) => client.tombstoneStream('a-1'));

      await expect(log.append('a-1', newEvents(1), 0)).rejects.toMatchObject({
        name: 'WrongExpectedRevision',
        actual: -1,
      });
      expect(await log.readStream('a-1')).toEqual([]);
    }),
  );
});

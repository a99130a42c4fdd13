import { type EventLog, LogInUse, openSqliteEventLog, openSqliteLogReader } from '..';
import { newEvent, newEvents } from '../contract/log-under-test.contract';
import { type EmbeddedLog, openEmbedded } from '../contract/opened-logs.contract';
import { eventLogContract } from '../event-log.contract';
import { lockLogFolder } from './folder-lock';
import { KnownLog } from './known-log';

/** A test's body with a log that nobody else has. */
const withNewLog = (body: (log: EventLog, harness: EmbeddedLog) => Promise<void>) => async (): Promise<void> => {
  const harness = await openEmbedded();
  try {
    await body(harness.log, harness);
  } finally {
    await harness.dispose();
  }
};

describe('the SQLite log', () => {
  eventLogContract(openEmbedded, { races: 100 });

  it(
    'begins empty',
    withNewLog(async (log) => {
      expect(await log.head()).toBeNull();
      expect(await log.readAll()).toEqual({ events: [], next: null, end: true });
      expect(await log.readAll({ direction: 'backwards' })).toEqual({ events: [], next: null, end: true });
      expect(await log.health()).toEqual({ writable: true, readable: true });
    }),
  );

  it(
    'numbers positions without gaps, also over rejected appends and removals',
    withNewLog(async (log) => {
      await log.append('a-1', newEvents(2), 'noStream');
      await expect(log.append('a-1', newEvents(5), 'noStream')).rejects.toThrow('revision 1');
      await log.append('a-2', newEvents(1), 'noStream');
      await log.delete('a-1', 'any');
      await log.append('a-1', newEvents(1), 'noStream');

      expect((await log.readAll()).events.map(({ position }) => position)).toEqual([
        '0000000000000003',
        '0000000000000004',
      ]);
      expect(await log.head()).toBe('0000000000000004');
    }),
  );

  it(
    'knows a repeat of an append whose stream was deleted since',
    withNewLog(async (log) => {
      const events = newEvents(2);
      const first = await log.append('a-1', events, 'noStream');
      await log.delete('a-1', 'any');

      expect(await log.append('a-1', events, 'noStream')).toEqual(first);
      expect(await log.readStream('a-1')).toEqual([]);
    }),
  );

  it(
    'recognises a repeat at `any` while it remembers',
    withNewLog(async (log) => {
      const events = newEvents(2);
      const first = await log.append('a-1', events, 'any');

      expect(await log.append('a-1', events, 'any')).toEqual(first);
      expect(await log.readStream('a-1')).toHaveLength(2);
    }),
  );

  it(
    'knows where a stream ends from the moment an append is answered or rejected',
    withNewLog(async (log) => {
      expect(log.endOf?.('a-1')).toBeUndefined();
      await log.append('a-1', newEvents(2), 'noStream');
      expect(log.endOf?.('a-1')).toBe(1);
      await expect(log.append('a-1', newEvents(1), 0)).rejects.toThrow('revision 1');
      expect(log.endOf?.('a-1')).toBe(1);
      await log.delete('a-1', 'any');
      await log.append('a-1', newEvents(1), 'noStream');
      expect(log.endOf?.('a-1')).toBe(2);
      await log.readStream('a-2');
      expect(log.endOf?.('a-2')).toBe(-1);
    }),
  );

  it(
    'removes long streams in parts, while others write',
    withNewLog(async (log) => {
      for (let part = 0; part < 3; part += 1)
        await log.append('a-1', newEvents(600), part === 0 ? 'noStream' : part * 600 - 1);

      const [, answer] = await Promise.all([log.truncate('a-1', 1_700), log.append('a-2', newEvents(1), 'noStream')]);

      expect(answer.revision).toBe(0);
      expect((await log.readStream('a-1'))[0]?.revision).toBe(1_700);
      expect((await log.readStream('a-1', { limit: 1 })).map(({ revision }) => revision)).toEqual([1_700]);
      expect(await log.readStream('a-1', { direction: 'backwards' })).toHaveLength(100);
      expect((await log.readAll({ after: '0000000000001700' })).events).toHaveLength(101);
    }),
  );

  it(
    'rejects a position that it never gave out',
    withNewLog(async (log) => {
      await expect(log.readAll({ after: '12' })).rejects.toThrow(RangeError);
    }),
  );

  it(
    'lets the event loop turn while it reads much',
    withNewLog(async (log) => {
      for (let part = 0; part < 40; part += 1)
        await log.append(
          'a-1',
          newEvents(500, { data: `"${'x'.repeat(500)}"` }),
          part === 0 ? 'noStream' : part * 500 - 1,
        );
      let turns = 0;
      const turn = (): void => void ((turns += 1), (timer = setImmediate(turn)));
      let timer = setImmediate(turn);

      expect(await log.readStream('a-1')).toHaveLength(20_000);
      clearImmediate(timer);

      expect(turns).toBeGreaterThan(1);
      expect((await log.readAll({ limit: 20_000 })).events.length).toBeLessThan(20_000);
    }),
  );

  it(
    'is open in one place at a time, and says so',
    withNewLog(async (_log, harness) => {
      const { folder } = harness;

      expect(() => lockLogFolder(folder)).toThrow(LogInUse);
      await expect(openSqliteEventLog({ folder })).rejects.toThrow(LogInUse);
      await (await harness.reopen()).close();

      lockLogFolder(folder).release();
    }),
  );

  it(
    'is read from elsewhere while it is written, and after',
    withNewLog(async (log, harness) => {
      const { folder } = harness;
      const event = newEvent({ data: '{"text":"one"}' });
      await log.append('a-1', [event], 'noStream');
      const reader = await openSqliteLogReader({ folder });
      expect((await reader.readStream('a-1')).map(({ id }) => id)).toEqual([event.id]);
      await log.append('a-1', newEvents(1), 0);
      expect((await reader.readAll()).events).toHaveLength(2);
      await log.close();

      expect(await reader.head()).toBe('0000000000000002');
      await reader.close();
      const later = await openSqliteLogReader({ folder });
      expect((await later.readAll()).events).toHaveLength(2);
      await later.close();
      await expect(later.readAll()).rejects.toMatchObject({ name: 'Unavailable' });
    }),
  );

  it(
    'hands over what it gathers for those who follow it when somebody waits for them',
    withNewLog(async (log) => {
      const delivered = jest.spyOn(KnownLog.prototype, 'deliverNow');
      log.deliverNow?.('');
      expect(delivered).toHaveBeenCalledTimes(1);
      delivered.mockRestore();
    }),
  );

  it(
    'rejects what comes after it was closed',
    withNewLog(async (log) => {
      await log.close();

      await expect(log.append('a-1', newEvents(1), 'any')).rejects.toMatchObject({
        name: 'Unavailable',
        outcome: 'none',
      });
      await expect(log.readStream('a-1')).rejects.toMatchObject({ name: 'Unavailable' });
    }),
  );
});

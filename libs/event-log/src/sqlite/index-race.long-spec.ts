import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { type EventLog, type LogReader, openSqliteEventLog, openSqliteLogReader } from '..';
import { newEvents } from '../contract/log-under-test.contract';

/** Readers and the writer do not wait for each other: whatever the writer commits while a stream is read, the stream has no gap. */

const LARGE = JSON.stringify('x'.repeat(500_000));
/** Each brings the index of streams up to the log some five times. */
const APPENDS = 30;

let folder: string;
let log: EventLog;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'log-race-'));
  log = await openSqliteEventLog({ folder });
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true });
});

interface Appending {
  isDone: boolean;
}

/** Appends large events to one stream, one after the other, and says when it is done. */
const append = async (stream: string, appending: Appending): Promise<void> => {
  for (let number = 0; number < APPENDS; number += 1)
    await log.append(stream, newEvents(1, { data: LARGE }), number === 0 ? 'noStream' : number - 1);
  appending.isDone = true;
};

/** Reads the end of the stream again and again while it grows: always whole revisions one after the other. */
const readMeanwhile = async (
  reader: Pick<LogReader, 'readStream'>,
  stream: string,
  direction: 'forwards' | 'backwards',
  appending: Appending,
): Promise<number> => {
  let reads = 0;
  for (let from = 0; !appending.isDone; reads += 1) {
    const revisions = (
      await reader.readStream(stream, direction === 'forwards' ? { from } : { direction, limit: 30 })
    ).map(({ revision }) => revision);
    const ordered = direction === 'forwards' ? revisions : revisions.toReversed();
    expect(ordered).toEqual(ordered.map((_, index) => (ordered[0] ?? 0) + index));
    from = Math.max(0, (ordered.at(-1) ?? 0) - 10);
    await turn();
  }
  return reads;
};

describe.each(['forwards', 'backwards'] as const)(
  'a stream that is read %s while large events are appended to it',
  (direction) => {
    it('has no gap for the process that writes it', async () => {
      const appending = { isDone: false };
      const [, reads] = await Promise.all([
        append('race-1', appending),
        readMeanwhile(log, 'race-1', direction, appending),
      ]);
      expect(reads).toBeGreaterThan(10);
      expect(await log.health()).toEqual({ writable: true, readable: true });
    });

    it('has no gap for others', async () => {
      const outside = await openSqliteLogReader({ folder });
      const appending = { isDone: false };
      const [, reads] = await Promise.all([
        append('race-1', appending),
        readMeanwhile(outside, 'race-1', direction, appending),
      ]);
      expect(reads).toBeGreaterThan(10);
      await outside.close();
    });
  },
);

it('a stream that is read while it is removed ends at a revision that was kept', async () => {
  for (let part = 0; part < 8; part += 1)
    await log.append('race-1', newEvents(500), part === 0 ? 'noStream' : part * 500 - 1);
  const outside = await openSqliteLogReader({ folder });
  let isDone = false;
  const removing = log.truncate('race-1', 3_900).then(() => (isDone = true));

  while (!isDone) {
    const revisions = (await outside.readStream('race-1')).map(({ revision }) => revision);
    expect(revisions.at(-1)).toBe(3_999);
    await turn();
  }
  await removing;
  await outside.close();
});

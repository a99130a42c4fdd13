import type { LogPage } from '@app/event-log';
import { Unavailable } from '@app/kernel';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { ClockWatch } from './clock-watch';

const WELL = { ok: true };
const LAST = Date.parse('2026-11-28T12:00:00.000Z');

/** A watch beside a log whose last events carry these metadata, newest first; `warned` counts how often it told of the clock in the log lines. */
const watchOf = (at: string, metadata: readonly string[], failing = 0) => {
  let fails = failing;
  let warned = 0;
  const clock = new FixedClock(new Date(at));
  const readAll = async () => {
    if (fails-- > 0) throw new Unavailable('event log', 'away');
    // Of a page, the watch reads the metadata of its events alone.
    return { events: metadata.map((text) => ({ metadata: text })) } as unknown as LogPage;
  };
  const logger = { warn: (facts: object) => 'seconds' in facts && (warned += 1) };
  return { clock, watch: new ClockWatch({ readAll }, clock, logger), warned: () => warned };
};
const event = (milliseconds: number): string => JSON.stringify({ recordedAt: new Date(milliseconds).toISOString() });
const behind = (seconds: number) => ({
  ok: false,
  reason: `${seconds} s behind the last events of the log: it was set back, or was ahead before`,
});

test('a clock behind the log is told once in the log lines, and in health until it is right', async () => {
  const { clock, watch, warned } = watchOf('2026-11-28T11:00:00Z', [event(LAST)]);
  await watch.start();
  expect([watch.health(), watch.health(), warned()]).toEqual([behind(3_600), behind(3_600), 1]);
  clock.advance(3_600_000);
  expect([watch.health(), warned()]).toEqual([WELL, 1]);
});

test('it is told too where a start on the wrong clock has recorded the last events', async () => {
  const { watch } = watchOf('2026-11-28T11:00:00Z', [event(LAST - 3_600_000), event(LAST)]);
  await watch.start();
  expect(watch.health()).toEqual(behind(3_600));
});

test('a clock that is set back while the process runs is told, one that is a little behind another is not', async () => {
  const { clock, watch } = watchOf('2026-11-28T11:59:30Z', [event(LAST)]);
  await watch.start();
  expect(watch.health()).toEqual(WELL);
  clock.advance(90_000);
  expect(watch.health()).toEqual(WELL);
  clock.advance(-120_000);
  expect(watch.health()).toEqual(behind(120));
});

test('events without a time, and an empty log, say nothing', async () => {
  for (const metadata of [[], ['{"recordedAt":7}', '{"recordedAt":"soon"}', 'null', '{']]) {
    const { watch } = watchOf('2026-11-28T11:00:00Z', metadata);
    await watch.start();
    expect(watch.health()).toEqual(WELL);
  }
});

test('a log that is away at the start is read later', async () => {
  const { watch } = watchOf('2026-11-28T11:00:00Z', [event(LAST)], 1);
  await watch.start();
  await watch.start();
  expect(watch.health()).toEqual(behind(3_600));
});

import { join } from 'node:path';
import { inspect } from 'node:util';
import { type EventLog, openSqliteEventLog } from '@app/event-log';
import { canonicalJson } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import { openSqliteReadStore, type ReadStore } from '@app/read-store';
import { counted, countersProjecting, opened } from '../../fixtures/counters';

/** The counters over the embedded stores of a folder. */
export interface CounterStores {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly projecting: Projecting;
  /** Why the view could not be written, each time. */
  readonly failures: readonly string[];
  close(): Promise<void>;
}

export const openCounterStores = async (folder: string): Promise<CounterStores> => {
  const log = await openSqliteEventLog({ folder: join(folder, 'log') });
  const readStore = await openSqliteReadStore({ folder: join(folder, 'views') });
  const projecting = countersProjecting(log, readStore);
  const close = async (): Promise<void> => {
    await projecting.stop();
    await readStore.close();
    await log.close();
  };
  return { log, readStore, projecting, failures: failuresOf(projecting), close };
};

export const failuresOf = (projecting: Projecting): readonly string[] => {
  const failures: string[] = [];
  const started = performance.now();
  projecting.events.on('failed', ({ error }) =>
    failures.push(
      `${Math.round(performance.now() - started)} ms: ${inspect(error, { depth: 1, breakLength: Infinity })}`,
    ),
  );
  return failures;
};

/** Opens counters and counts them up, one event after the other, until stopped; each writer has streams of its own. */
export const startWriters = (log: EventLog, count: number): (() => Promise<void>) => {
  let stopped = false;
  const run = `${process.pid}-${Date.now()}`;
  const write = async (writer: number): Promise<void> => {
    for (let turn = 0; !stopped; turn += 1) {
      const stream = `counter-${run}-${writer}-${turn}`;
      await log.append(stream, [opened(stream)], 'noStream');
      for (let revision = 0; revision < 5 && !stopped; revision += 1)
        await log.append(stream, [counted(revision + 1)], revision);
    }
  };
  const writers = Array.from({ length: count }, (_, writer) => write(writer));
  return async () => {
    stopped = true;
    await Promise.all(writers);
  };
};

/** What the view must hold: the log folded by other code than the view's. */
export const foldLog = async (log: EventLog): Promise<string> => {
  const rows = new Map<string, { name: string; count: number; last?: string }>();
  for (let page = await log.readAll({ limit: 1_000 }); ; page = await log.readAll({ after: page.next, limit: 1_000 })) {
    for (const { stream, type, data, id } of page.events) {
      const body = JSON.parse(data) as { name: string; by: number };
      const row = rows.get(stream);
      if (type === 'CounterOpened') rows.set(stream, { name: body.name, count: 0 });
      if (type === 'Counted' && row !== undefined) rows.set(stream, { ...row, count: row.count + body.by, last: id });
    }
    if (page.end) return text([...rows]);
  }
};

export const viewText = async (readStore: ReadStore, version: number): Promise<string> => {
  const rows: [string, object][] = [];
  for (
    let page = await readStore.scan('counters', version, null, 1_000);
    page.length > 0;
    page = await readStore.scan('counters', version, rows.at(-1)?.[0] ?? null, 1_000)
  ) {
    for (const { key, row } of page) rows.push([key, row]);
  }
  return text(rows);
};

const text = (rows: readonly (readonly [string, object])[]): string =>
  canonicalJson(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** A write to a store is given 30 s, also over a connection that is dead and does not know. */
const CATCH_UP_MS = 45_000;

/** Waits for the view to reach the head; then it must be the fold of the log. */
export const expectViewIsFold = async ({ log, readStore, projecting, failures }: CounterStores): Promise<void> => {
  const head = await log.head();
  const reached = await projecting.waitFor('counters', head ?? '', CATCH_UP_MS);
  expect({ reached, failures: reached ? [] : failures, letters: await projecting.deadLetters() }).toEqual({
    reached: true,
    failures: [],
    letters: [],
  });
  expect(await viewText(readStore, (await readStore.live('counters')) ?? 0)).toBe(await foldLog(log));
};

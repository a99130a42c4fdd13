import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type EventLog, openSqliteEventLog } from '@app/event-log';
import { openSqliteReadStore } from '@app/read-store';
import { until } from '../fixtures/until';
import { inRound, rounds, seed, seededNumbers } from './log/rounds';
import { kill, startProgram } from './projecting/child-process';
import { foldLog, startWriters, viewText } from './projecting/counter-stores';

/** Fault 14: SIGSTOP of a projector that is a process, and SIGCONT when another has taken over its slices. */

const number = seededNumbers();
const WAIT_MS = 2_000;
let folder: string;
let log: EventLog;
let children: ChildProcess[];
let stopWriting: () => Promise<void>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'projecting-stop-'));
  log = await openSqliteEventLog({ folder: join(folder, 'log') });
  children = [];
  stopWriting = async () => undefined;
});
afterEach(async () => {
  await stopWriting();
  for (const child of children) await kill(child);
  await log.close();
  rmSync(folder, { recursive: true });
});

/** A projector, and the number of slices that it said last to hold. */
const start = async (name: string): Promise<{ readonly child: ChildProcess; readonly slices: () => number }> => {
  const child = await startProgram('sharing-child.ts', 'up', folder, name);
  children.push(child);
  let slices = -1;
  child.stdout?.on('data', (data: Buffer) => (slices = Number(/slices (\d+)\n$/.exec(data.toString())?.[1] ?? slices)));
  return { child, slices: () => slices };
};

/** What the view holds, read past every cache. */
const view = async (): Promise<string> => {
  const readStore = await openSqliteReadStore({ folder: join(folder, 'views') });
  const text = await viewText(readStore, (await readStore.live('counters')) ?? 1);
  await readStore.close();
  return text;
};

test(
  `writes of a stopped process are rejected when it goes on, and no event is lost or doubled (SEED=${seed})`,
  async () => {
    const first = await start('a');
    const second = await start('b');
    const divided = () => until(() => first.slices() === 4 && second.slices() === 4);
    await divided();
    stopWriting = startWriters(log, 4);
    for (let taken = 0, round = 0; taken < rounds(3); round += 1) {
      await inRound(round, async () => {
        const [stopped, other] = number(2) === 0 ? [first, second] : [second, first];
        await pause(number(200));
        stopped.child.kill('SIGSTOP');
        // Stopped in the middle of a write it keeps SQLite's lock, and nobody can take over: then it goes on, and is stopped again.
        const deadline = Date.now() + WAIT_MS;
        while (other.slices() < 8 && Date.now() < deadline) await pause(10);
        taken += other.slices() === 8 ? 1 : 0;
        stopped.child.kill('SIGCONT');
        await divided();
      });
    }
    await stopWriting();
    const expected = await foldLog(log);
    let held = '';
    await until(async () => (held = await view()) === expected).finally(() => expect(held).toBe(expected));
  },
  60_000 + rounds(3) * 10_000,
);

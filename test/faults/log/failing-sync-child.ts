import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openSqliteEventLog } from '@app/event-log';
import { isUnavailable, type NewEvent } from '@app/kernel';

/** Runs with syncs that fail when told to (failing-sync.c), and prints what it saw as JSON. */

export interface Seen {
  readonly acknowledged: readonly string[];
  /** Outcomes of the appends that were rejected. */
  readonly outcomes: readonly string[];
  readonly whileFailing: {
    readonly writable: boolean;
    readonly readable: boolean;
    readonly reason?: string;
    readonly ids: readonly string[];
  };
  /** Revision answered to the first rejected append when it was sent again, and what stands in its stream then. */
  readonly again: { readonly revision: number; readonly ids: readonly string[] };
  readonly sentAgain: string;
}

const [folder = '', succeed = '0', end = 'close'] = process.argv.slice(2);
const control = process.env['FAILING_SYNC'] ?? '';
const event = (): NewEvent => ({ id: randomUUID(), type: 'Synced', data: '{}', metadata: '{}' });

const main = async (): Promise<void> => {
  const log = await openSqliteEventLog({ folder });
  const ids = async (): Promise<string[]> => (await log.readAll({ limit: 1_000 })).events.map(({ id }) => id);
  const acknowledged: string[] = [];
  const rejected: { event: NewEvent; stream: string; outcome: string }[] = [];
  const append = async (stream: string): Promise<void> => {
    const next = event();
    try {
      await log.append(stream, [next], 'noStream');
      acknowledged.push(next.id);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      rejected.push({ event: next, stream, outcome: error.outcome });
    }
  };
  for (let index = 0; index < 5; index += 1) await append(`before-${index}`);
  writeFileSync(control, succeed);
  for (let index = 0; rejected.length < 3; index += 1) await append(`during-${index}`);
  const whileFailing = { ...(await log.health()), ids: await ids() };
  if (end === 'die') {
    console.log(JSON.stringify({ acknowledged, outcomes: rejected.map(({ outcome }) => outcome) }));
    process.kill(process.pid, 'SIGKILL');
  }
  rmSync(control);
  while (!(await log.health()).writable) await pause(5);
  const [first] = rejected;
  if (first === undefined) throw new Error('an append was rejected');
  const { revision } = await log.append(first.stream, [first.event], 'noStream');
  const again = { revision, ids: (await log.readStream(first.stream)).map(({ id }) => id) };
  await append('after');
  await log.close();
  const seen: Seen = {
    acknowledged,
    outcomes: rejected.map(({ outcome }) => outcome),
    whileFailing,
    again,
    sentAgain: first.event.id,
  };
  console.log(JSON.stringify(seen));
};

void main();

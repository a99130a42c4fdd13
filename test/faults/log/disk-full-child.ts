import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type EventLog, type LogHealth, openSqliteEventLog } from '@app/event-log';
import { isUnavailable, type NewEvent } from '@app/kernel';
import { fileSizeLimit, tinyFileSystem } from './small-disk';

/** Fills the disk of a log, makes room again, and prints what it saw as JSON; nothing when it may not make a small disk. */

export interface Seen {
  /** Reasons and outcomes of the appends that were rejected, one for each caller. */
  readonly rejections: readonly { readonly reason: string; readonly outcome: string }[];
  readonly health: LogHealth;
  /** Ids acknowledged, and those found in the log: when the disk was full, and after more was written and the log opened anew. */
  readonly whenFull: { readonly acknowledged: readonly string[]; readonly found: readonly string[] };
  readonly later: { readonly acknowledged: readonly string[]; readonly found: readonly string[] };
}

const CALLERS = 8;
const [means, parent = ''] = process.argv.slice(2);

const event = (): NewEvent => ({
  id: randomUUID(),
  type: 'Filled',
  data: JSON.stringify({ text: 'x'.repeat(2_000) }),
  metadata: '{}',
});

const findIds = async (log: EventLog): Promise<string[]> => {
  const ids: string[] = [];
  for (let page = await log.readAll(); ; page = await log.readAll({ after: page.next })) {
    ids.push(...page.events.map(({ id }) => id));
    if (page.end) return ids.toSorted();
  }
};

const main = async (): Promise<void> => {
  const disk = means === 'tmpfs' ? tinyFileSystem(parent) : fileSizeLimit(parent);
  if (disk === undefined) return;
  const acknowledged: string[] = [];
  const rejections: { reason: string; outcome: string }[] = [];
  let log = await openSqliteEventLog({ folder: disk.folder });
  const append = async (caller: number): Promise<void> => {
    const events = [event(), event()];
    await log.append(`full-${caller}`, events, 'any');
    acknowledged.push(...events.map(({ id }) => id));
  };
  const appendUntilRejected = async (_: unknown, caller: number): Promise<void> => {
    try {
      for (;;) await append(caller);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      rejections.push({ reason: error.reason, outcome: error.outcome });
    }
  };
  try {
    await append(0);
    disk.fill();
    await Promise.all(Array.from({ length: CALLERS }, appendUntilRejected));
    const health = await log.health();
    const whenFull = { acknowledged: acknowledged.toSorted(), found: await findIds(log) };
    disk.free();
    while (!(await log.health()).writable) await pause(5);
    await append(0);
    await log.close();
    log = await openSqliteEventLog({ folder: disk.folder });
    const seen: Seen = {
      rejections,
      health,
      whenFull,
      later: { acknowledged: acknowledged.toSorted(), found: await findIds(log) },
    };
    console.log(JSON.stringify(seen));
  } finally {
    await log.close();
    disk.dispose();
  }
};

void main();

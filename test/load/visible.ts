import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSqliteEventLog } from '@app/event-log';
import { Decisions, systemClock, TimeOrderedIds } from '@app/kernel';
import { Projecting } from '@app/projecting';
import { openSqliteReadStore } from '@app/read-store';
import { leasesAlone } from '../fixtures/counters';
import { note, noteMeta, notes, notesCodec, notesView } from './notes';

/**
 * Read your own writes: from the start of a command to the moment its view shows it, at 200 commands/s over the embedded
 * stores with the log, the views and the commands of one process. Prints percentiles, beside those of the append alone,
 * and the lag of the main loop.
 */

const PER_SECOND = 200;
const SECONDS = Number(process.env['SECONDS'] ?? 10);
const WARM_UP = PER_SECOND;
/** Views that follow the log beside the one that is waited for, as many as the product has. */
const VIEWS = 20;

const percentile = (values: readonly number[], share: number): string =>
  `${(values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0).toFixed(1)} ms`;

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(process.cwd(), '.bench-'));
  const log = await openSqliteEventLog({ folder: join(folder, 'log') });
  const readStore = await openSqliteReadStore({ folder: join(folder, 'views') });
  const decisions = new Decisions(log, notesCodec);
  const logger = { info: () => undefined, warn: console.warn, error: console.error };
  const others = Array.from({ length: VIEWS - 1 }, (_, index) => ({
    ...notesView,
    name: `other-${index}`,
    types: index < 3 ? notesView.types : ['Elsewhere'],
  }));
  const none = {} as Pick<ConstructorParameters<typeof Projecting>[0], 'searchIndex' | 'blobs'>;
  const projecting = new Projecting({
    ...none,
    log,
    readStore,
    codec: notesCodec,
    projections: [notesView, ...others],
    clock: systemClock,
    logger,
    leases: leasesAlone(logger),
  });
  const ids = new TimeOrderedIds();
  const known = Array.from({ length: 500 }, () => ids.next());
  const visible: number[] = [];
  const appended: number[] = [];
  let late = 0;
  const command = async (number: number): Promise<void> => {
    const id = known[number % known.length] as string;
    const started = performance.now();
    const { position } = await decisions.transact(notes, id, note(number), noteMeta());
    appended.push(performance.now() - started);
    if (
      !(await projecting.waitFor('notes', position, 2_000)) ||
      (await readStore.get('notes', `note-${id}`)) === undefined
    )
      late += 1;
    visible.push(performance.now() - started);
  };
  const lag = monitorEventLoopDelay({ resolution: 1 });
  try {
    await projecting.start();
    const running: Promise<void>[] = [];
    const begun = performance.now();
    for (let number = 0; number < WARM_UP + PER_SECOND * SECONDS; number += 1) {
      const early = begun + (number * 1_000) / PER_SECOND - performance.now();
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      if (number === WARM_UP) {
        lag.enable();
        visible.length = appended.length = 0;
      }
      running.push(command(number));
    }
    await Promise.all(running);
    lag.disable();
    console.log(`${PER_SECOND * SECONDS} commands at ${PER_SECOND}/s, ${VIEWS} views follow the log`);
    console.log(
      `  command to visible   p50 ${percentile(visible, 0.5)}, p95 ${percentile(visible, 0.95)} (target 20 ms), p99 ${percentile(visible, 0.99)}, late ${late}`,
    );
    console.log(`  of which the append  p50 ${percentile(appended, 0.5)}, p95 ${percentile(appended, 0.95)}`);
    console.log(
      `  main loop lag        p99 ${(lag.percentile(99) / 1e6).toFixed(1)} ms, most ${(lag.max / 1e6).toFixed(1)} ms (target 50 ms)`,
    );
  } finally {
    await projecting.stop();
    await readStore.close();
    await log.close();
    rmSync(folder, { recursive: true });
  }
};

void main();

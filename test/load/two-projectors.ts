import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type CounterCluster, startCounterCluster } from '../faults/processes/counter-cluster';
import { cpuSeconds, median } from './rate';

/**
 * Rebuild of a view on MongoDB by one projector and by two, each a process, from a log on the double of EventStoreDB; beside them bare
 * bulk writes by one process and by two, which tell what the sink allows. Prints seconds and how many times as fast two are, also by
 * the processor time of the busier projector: what two take where there are cores for both and for the servers. Starts servers of its own; needs `test/servers/mongodb.sh install`. The target is 1.6 where the sink allows it.
 */

const STREAMS = Number(process.env['STREAMS'] ?? 8_000);
const EVENTS_OF_EACH = 3;
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const POLL_MS = 20;

const secondsOf = async (work: () => Promise<void>): Promise<number> => {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
};

const reached = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await pause(POLL_MS);
};

/** Seconds until the rows are built, and until they are verified to be equal, which one process does for all. */
const rebuild = async ({ watcher }: CounterCluster): Promise<{ readonly built: number; readonly ready: number }> => {
  const control = watcher.rebuild('counters');
  const started = performance.now();
  const reaches = (...states: readonly string[]): Promise<number> =>
    secondsOf(() => reached(async () => states.includes((await control.status())?.state ?? ''))).then(
      () => (performance.now() - started) / 1_000,
    );
  await control.start({ swap: false });
  const built = await reaches('verifying', 'ready');
  const ready = await reaches('ready');
  await control.cancel();
  return { built, ready };
};

const bareChild = async (url: string, name: string, rows: number): Promise<ChildProcess> => {
  const child = spawn(
    process.execPath,
    [
      '--require',
      join(__dirname, '..', 'register.cjs'),
      join(__dirname, 'bare-bulk.child.ts'),
      url,
      name,
      String(rows),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
};

/** Seconds in which so many processes write the rows of the view, an equal part each. */
const bare = async (url: string, processes: number): Promise<number> => {
  const children = await Promise.all(
    Array.from({ length: processes }, (_, index) => bareChild(url, `p${index}`, STREAMS / processes)),
  );
  return secondsOf(async () => {
    const ends = children.map((child) => once(child, 'exit'));
    for (const child of children) child.stdin?.write('go\n');
    await Promise.all(ends);
  });
};

const main = async (): Promise<void> => {
  const cluster = await startCounterCluster();
  const seconds: Record<'bare' | 'built' | 'ready' | 'cpu', [number[], number[]]> = {
    bare: [[], []],
    built: [[], []],
    ready: [[], []],
    cpu: [[], []],
  };
  try {
    await cluster.fill(STREAMS);
    const first = await cluster.start('a');
    await reached(async () => (await cluster.shares()).join() === '8');
    await cluster.watcher.waitFor('counters', (await cluster.log.head()) ?? '', 120_000);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const processes of [1, 2] as const) {
        const second = processes === 2 ? await cluster.start(`b${round}`) : undefined;
        await reached(async () => (await cluster.shares()).join() === (second === undefined ? '8' : '4,4'));
        const pids = [first, second].flatMap((child) => child?.pid ?? []);
        const before = pids.map(cpuSeconds);
        const { built, ready } = await rebuild(cluster);
        seconds.cpu[processes - 1]?.push(Math.max(...pids.map((pid, index) => cpuSeconds(pid) - (before[index] ?? 0))));
        seconds.built[processes - 1]?.push(built);
        seconds.ready[processes - 1]?.push(ready);
        seconds.bare[processes - 1]?.push(await bare(cluster.mongoUrl, processes));
        if (second !== undefined) await cluster.kill(second);
      }
    }
    console.log(
      `rebuild of a view of ${STREAMS} rows from ${STREAMS * EVENTS_OF_EACH} events into MongoDB, median of ${ROUNDS} rounds`,
    );
    for (const [name, title] of [
      ['built', 'rows built      '],
      ['ready', 'and verified    '],
      ['cpu', 'processor time  '],
      ['bare', 'bare bulk loops '],
    ] as const) {
      const [one, two] = [median(seconds[name][0]), median(seconds[name][1])];
      console.log(
        `  ${title} one process ${one.toFixed(1)} s, two ${two.toFixed(1)} s: two are ${(one / two).toFixed(2)} times as fast${name === 'bare' ? '' : ' (target 1.60)'}`,
      );
    }
  } finally {
    await cluster.destroy();
  }
};

void main();

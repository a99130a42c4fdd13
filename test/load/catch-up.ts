import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KEY, startProduct } from './product';
import { fillWithPrompts } from './prompts';
import { cpuSeconds } from './rate';

/**
 * The built product on a log of which no view has seen anything and nothing is sealed, as after a restore or an outage of the
 * projector: time until it is ready, events a second until every view and policy has caught up, and meanwhile, how long `/health`,
 * asked every half second, and reads take. The clock begins with the process, since views are at work before it is ready; what a
 * start takes that has nothing to catch up, measured afterwards, is taken off. Needs `npm run build`; `PRODUCT` names another checkout, built, to compare with.
 * With `RESTORED=true` the log is sealed and the policies have seen it, and the views alone are gone, as after a restore of a
 * backup. The target is 50,000 events/s. `EVENTS=300000 npm exec -- node --require ./test/register.cjs test/load/catch-up.ts`
 */

const EVENTS = Number(process.env['EVENTS'] ?? 100_000);
const TIMEOUT_MS = Number(process.env['SECONDS'] ?? 600) * 1_000;
const HEALTH_EVERY_MS = Number(process.env['HEALTH_MS'] ?? 500);
const READ_EVERY_MS = 50;
const RESTORED = process.env['RESTORED'] === 'true';

interface Reader {
  readonly name: string;
  readonly state: string;
  readonly lagEvents: number | null;
}

interface Report {
  readonly status: string;
  readonly projections: readonly Reader[];
  readonly policies: readonly Reader[];
}

const headers = { 'x-api-key': KEY };
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Asks again and again until it is told to stop; answers how long each took, milliseconds. */
const every = (milliseconds: number, ask: () => Promise<void>): (() => Promise<readonly number[]>) => {
  const times: number[] = [];
  let isStopped = false;
  const asking = (async () => {
    while (!isStopped) {
      const began = performance.now();
      await ask();
      const took = performance.now() - began;
      times.push(took);
      await pause(Math.max(0, milliseconds - took));
    }
  })();
  return async () => {
    isStopped = true;
    await asking;
    return times;
  };
};

const shown = (times: readonly number[]): string => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms (${times.length})`;
};

const reportOf = async (url: string): Promise<Report> =>
  (await (await fetch(`${url}/health`, { headers })).json()) as Report;

/** Has everything seen and sealed, and takes the views away. */
const loseViews = async (dataDir: string): Promise<void> => {
  const product = await startProduct(dataDir);
  for (let isDone = false; !isDone; await pause(HEALTH_EVERY_MS)) {
    const { projections, policies } = await reportOf(product.url);
    isDone = projections.length > 0 && [...projections, ...policies].every(({ lagEvents }) => lagEvents === 0);
  }
  await product.stop();
  for (const folder of ['views', 'search']) rmSync(join(dataDir, folder), { recursive: true });
};

const main = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'load-catch-up-'));
  try {
    await fillWithPrompts(dataDir, EVENTS);
    if (RESTORED) await loseViews(dataDir);
    const product = await startProduct(dataDir);
    say(
      `${EVENTS} events, ${RESTORED ? 'seen by no view' : 'none seen and none sealed'}: ready in ${product.readyMs.toFixed(0)} ms`,
    );
    const began = performance.now();
    const caughtUp = new Map<string, number>();
    let reports = 0;
    let empty = 0;
    let early = 0;
    let isDone = false;
    const health = every(HEALTH_EVERY_MS, async () => {
      const { projections, policies } = await reportOf(product.url);
      reports += 1;
      if (projections.length === 0) empty += 1;
      const seconds = (performance.now() - began) / 1_000;
      for (const { name, lagEvents } of [...projections, ...policies])
        if (lagEvents !== null && lagEvents < 100 && !caughtUp.has(name)) caughtUp.set(name, seconds);
      early += projections.filter(({ state, lagEvents }) => state === 'live' && lagEvents !== 0).length;
      isDone = projections.length > 0 && [...projections, ...policies].every(({ name }) => caughtUp.has(name));
    });
    const reads = every(READ_EVERY_MS, async () => {
      await (await fetch(`${product.url}/api/v1/core/agents?limit=20`, { headers })).text();
    });
    while (!isDone && performance.now() - began < TIMEOUT_MS) await pause(50);
    const seconds = (performance.now() - began) / 1_000;
    const cpu = cpuSeconds(product.pid);
    const healthTimes = await health();
    const readTimes = await reads();
    await product.stop();
    const idle = await startProduct(dataDir);
    const idleCpu = cpuSeconds(idle.pid);
    await idle.stop();
    const tookSeconds = seconds + (product.readyMs - idle.readyMs) / 1_000;
    say(
      isDone
        ? `all caught up ${seconds.toFixed(1)} s later, ${tookSeconds.toFixed(1)} s more than a start with nothing to catch up (${idle.readyMs.toFixed(0)} ms): ${Math.round(EVENTS / tookSeconds).toLocaleString('en')} events/s (target 50,000)`
        : `not caught up after ${seconds.toFixed(0)} s`,
    );
    say(
      `${(cpu - idleCpu).toFixed(1)} s of processor time more than that, ${(((cpu - idleCpu) / EVENTS) * 1e6).toFixed(0)} µs an event`,
    );
    say(
      `the last: ${[...caughtUp]
        .toSorted((a, b) => b[1] - a[1])
        .slice(0, 6)
        .map(([name, at]) => `${name} ${at.toFixed(1)} s`)
        .join(', ')}`,
    );
    say(
      `/health meanwhile: ${shown(healthTimes)}; ${empty} of ${reports} answers without views, ${early} views live that were not at the end`,
    );
    say(`reads meanwhile: ${shown(readTimes)}`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
};

void main();

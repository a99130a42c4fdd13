import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KEY, startProduct } from './product';
import { fillWithPrompts } from './prompts';
import { median } from './rate';

/**
 * The built product on a log of 100,000 events, started as `npm start` does: time from the start of the process until it is
 * ready, and its memory at rest, also once it has filled every view from the log. Needs `npm run build`. The targets are
 * 3 s and 350 MB; beside them stands the time of a bare `node -e 0`.
 */

const EVENTS = Number(process.env['EVENTS'] ?? 100_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);

const main = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'load-start-'));
  try {
    await fillWithPrompts(dataDir, EVENTS);
    const first = await startProduct(dataDir);
    await caughtUp(first.url);
    const filled = await memoryAtRest(first.pid);
    await first.stop();
    const times: number[] = [];
    const resting: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const again = await startProduct(dataDir);
      times.push(again.readyMs);
      resting.push(await memoryAtRest(again.pid));
      await again.stop();
    }
    const bare = await bareStart();
    process.stdout.write(
      `${EVENTS} events: first start ready in ${first.readyMs.toFixed(0)} ms, later starts in ${median(times).toFixed(0)} ms (target 3000; node -e 0 takes ${bare.toFixed(0)} ms); at rest ${median(resting).toFixed(0)} MB (target 350), ${filled.toFixed(0)} MB where every view was filled before\n`,
    );
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
};

const caughtUp = async (url: string): Promise<void> => {
  for (;;) {
    const answer = (await (await fetch(`${url}/health`, { headers: { 'x-api-key': KEY } })).json()) as {
      projections: { lagEvents: number | null }[];
      policies: { lagEvents: number | null }[];
    };
    if ([...answer.projections, ...answer.policies].every(({ lagEvents }) => lagEvents !== null && lagEvents < 100))
      return;
    await pause(200);
  }
};

/** Resident memory, MB, once it has not changed for 30 s: V8 collects some seconds after the last work. */
const memoryAtRest = async (pid: number): Promise<number> => {
  const seen: number[] = [];
  while (seen.length < 36) {
    await pause(5_000);
    seen.push(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
    const last = seen.slice(-6);
    if (last.length === 6 && Math.max(...last) - Math.min(...last) < 2) break;
  }
  return seen.at(-1) ?? 0;
};

const bareStart = async (): Promise<number> => {
  const began = performance.now();
  await new Promise((resolve) => spawn(process.execPath, ['-e', '0']).once('exit', resolve));
  return performance.now() - began;
};

void main();

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openLog, openStores } from '@app/hosting';
import { deriveId, readConfig, systemClock, TimeOrderedIds } from '@app/kernel';
import { promptDecider } from '@app/spaces';
import { loadOrMakeKey } from '@app/vault';
import { median } from './rate';

/**
 * The built product on a log of 100,000 events, started as `npm start` does: time from the start of the process until it is
 * ready, and its memory at rest, also once it has filled every view from the log. Needs `npm run build`. The targets are
 * 3 s and 250 MB; beside them stands the time of a bare `node -e 0`.
 */

const EVENTS = Number(process.env['EVENTS'] ?? 100_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const PROMPTS = 2_000;
const CALLERS = 64;
const KEY = 'load-test-key-0123456789-abcdefghijklmnop';
const root = join(__dirname, '..', '..');

const main = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'load-start-'));
  try {
    await fill(dataDir);
    const first = await start(dataDir);
    await caughtUp(first.url);
    const filled = await memoryAtRest(first.pid);
    await first.stop();
    const times: number[] = [];
    const resting: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const again = await start(dataDir);
      times.push(again.readyMs);
      resting.push(await memoryAtRest(again.pid));
      await again.stop();
    }
    const bare = await bareStart();
    process.stdout.write(`${EVENTS} events: first start ready in ${first.readyMs.toFixed(0)} ms, later starts in ${median(times).toFixed(0)} ms (target 3000; node -e 0 takes ${bare.toFixed(0)} ms); at rest ${median(resting).toFixed(0)} MB (target 250), ${filled.toFixed(0)} MB where every view was filled before\n`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
};

/** Writes prompts and changes of them through the decider, as commands do. */
const fill = async (dataDir: string): Promise<void> => {
  const config = readConfig({ DATA_DIR: dataDir });
  const vaultKey = loadOrMakeKey({ folder: join(dataDir, 'keys'), name: 'VAULT_KEY', inUse: false, warn: () => undefined });
  loadOrMakeKey({ folder: join(dataDir, 'keys'), name: 'SEAL_KEY', inUse: false, warn: () => undefined });
  const stores = await openStores(config, await openLog(config), vaultKey, systemClock);
  const ids = new TimeOrderedIds();
  const spaceId = ids.next();
  const meta = () => {
    const commandId = ids.next();
    return { commandId, correlationId: commandId, actor: 'system:load', now: new Date() };
  };
  const prompts = Array.from({ length: PROMPTS }, (_, index) => deriveId(ids.next(), String(index)));
  let written = 0;
  const write = async (): Promise<void> => {
    while (written < EVENTS) {
      const number = written++;
      const text = `Prompt ${number}: summarise the attached minutes in five sentences.`;
      const command = number < PROMPTS ? ({ type: 'Add', spaceId, fields: { title: `Prompt ${number}`, text, tags: [] } } as const) : ({ type: 'Change', fields: { text } } as const);
      await stores.decisions.transact(promptDecider, prompts[number % PROMPTS] as string, command, meta());
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, write));
  await stores.close();
};

interface Started {
  readonly pid: number;
  readonly url: string;
  readonly readyMs: number;
  stop(): Promise<void>;
}

/** What `npm start` gives to node. */
const commandOfStart = (): readonly string[] => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return scripts.start.replace(/^exec node /, '').split(' ');
};

/** Starts the built product and asks until it is ready. */
const start = async (dataDir: string): Promise<Started> => {
  const command = commandOfStart();
  if (!existsSync(join(root, command.at(-1) ?? ''))) throw new Error('run `npm run build` first');
  const began = performance.now();
  const child = spawn(process.execPath, command, { cwd: root, env: { ...process.env, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', BOOTSTRAP_API_KEY: KEY }, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    void exited.then((code) => reject(new Error(`the product ended with ${String(code)}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /http:\/\/[\d.:]+/.exec(chunk.toString());
      if (found !== null) resolve(found[0]);
    });
  });
  while ((await fetch(`${url}/health/ready`)).status !== 200) await pause(20);
  const readyMs = performance.now() - began;
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return { pid: child.pid ?? 0, url, readyMs, stop };
};

const caughtUp = async (url: string): Promise<void> => {
  for (;;) {
    const answer = (await (await fetch(`${url}/health`, { headers: { 'x-api-key': KEY } })).json()) as { projections: { lagEvents: number }[]; policies: { lagEvents: number }[] };
    if ([...answer.projections, ...answer.policies].every(({ lagEvents }) => lagEvents < 100)) return;
    await pause(200);
  }
};

/** Resident memory, MB, once it has not changed for 75 s: memory is collected when a rest has lasted a minute, and V8 keeps pages for some seconds. */
const memoryAtRest = async (pid: number): Promise<number> => {
  const seen: number[] = [];
  while (seen.length < 36) {
    await pause(5_000);
    seen.push(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
    const last = seen.slice(-15);
    if (last.length === 15 && Math.max(...last) - Math.min(...last) < 2) break;
  }
  return seen.at(-1) ?? 0;
};

const bareStart = async (): Promise<number> => {
  const began = performance.now();
  await new Promise((resolve) => spawn(process.execPath, ['-e', '0']).once('exit', resolve));
  return performance.now() - began;
};

void main();

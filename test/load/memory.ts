import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startChild } from '../e2e/child';
import { cpuSeconds, median } from './rate';
import { KEY } from './product';

/**
 * Memories over HTTP, through the whole product: saving one beside adding a prompt to the library of a Space (target: 0.6 of its rate), then
 * clearing a thousand (target: every receipt within 10 s, and reads at most twice as slow at the 99th percentile until the last one is there; `ROUNDS=0` measures this alone).
 */

const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const EACH = Number(process.env['EACH'] ?? 250);
const CALLERS = 16;
const CLEARED = 1_000;

const main = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'load-memory-'));
  const product = await startChild('apps/api/src/main.ts', {
    DATA_DIR: dataDir,
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'warn',
    MEMORY_PERSONAL_MAX: '10000',
  });
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
  const send = async (method: string, path: string, body?: object): Promise<string> => {
    const response = await fetch(`${product.url}/api/v1${path}`, {
      method,
      headers: body === undefined ? { 'x-api-key': KEY } : headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  };
  const made = async (path: string, body: object) => (JSON.parse(await send('POST', path, body)) as { id: string }).id;
  try {
    const spaceId = await made('/core/spaces', { name: 'Load' });
    const agents: string[] = [];
    for (let n = 0; n < CALLERS; n += 1) agents.push(await made('/core/agents', { spaceId, name: `Agent ${n}` }));
    let written = 0;
    const ways = {
      prompt: () => made(`/core/spaces/${spaceId}/prompts`, { title: 'Units', text: fact((written += 1)) }),
      memory: (caller: number) => made(`/core/memory/${agents[caller]}/memories`, { text: fact((written += 1)) }),
    };
    const rates = { prompt: [] as number[], memory: [] as number[] };
    const cpus = { prompt: [] as number[], memory: [] as number[] };
    for (let round = -2; ROUNDS > 0 && round < ROUNDS; round += 1)
      for (const way of ['prompt', 'memory'] as const) {
        const [began, cpu] = [performance.now(), cpuSeconds(product.pid)];
        let left = EACH;
        await Promise.all(
          agents.map(async (_, caller) => {
            while (left-- > 0) await ways[way](caller);
          }),
        );
        if (round < 0) continue;
        rates[way].push((EACH * 1e3) / (performance.now() - began));
        cpus[way].push(((cpuSeconds(product.pid) - cpu) * 1e6) / EACH);
      }
    if (ROUNDS > 0) printRates(rates, cpus);

    await send('DELETE', '/core/users/me/memories');
    const receiptsBefore = await settledReceipts(send);
    for (let n = 0; n < CLEARED; n += CALLERS)
      await Promise.all(agents.slice(0, Math.min(CALLERS, CLEARED - n)).map((_, caller) => ways.memory(caller)));
    const read = `/core/agents/${agents[0]}`;
    const quiet = p99(
      await readsOf(
        () => send('GET', read),
        () => pause(3_000),
      ),
    );
    let [answered, last] = [0, 0];
    const began = Date.now();
    const reads = await readsOf(
      () => send('GET', read),
      async () => {
        await send('DELETE', '/core/users/me/memories');
        answered = Date.now() - began;
        last = await lastReceipt(send);
      },
    );
    if ((await receiptsIn(send)) !== receiptsBefore + CLEARED) throw new Error('not every memory has its receipt');
    const busy = p99(reads.filter(({ at }) => at <= last));
    const receipts = last - began;
    console.log(
      `clearing ${CLEARED} memories: answered after ${(answered / 1e3).toFixed(1)} s, the last receipt after ${(receipts / 1e3).toFixed(1)} s (target 10); reads at p99 ${quiet.toFixed(1)} ms before, ${busy.toFixed(1)} ms meanwhile, ${(busy / quiet).toFixed(1)} times (target 2)`,
    );
  } finally {
    await product.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

/** What both ways came to. */
const printRates = (
  rates: { prompt: number[]; memory: number[] },
  cpus: { prompt: number[]; memory: number[] },
): void => {
  const [memory, prompt] = [median(rates.memory), median(rates.prompt)];
  const [ofMemory, ofPrompt] = [median(cpus.memory), median(cpus.prompt)];
  console.log(
    `saving a memory ${memory.toFixed(0)}/s (${ofMemory.toFixed(0)} µs of processor), adding a prompt ${prompt.toFixed(0)}/s (${ofPrompt.toFixed(0)} µs): ratio ${(memory / prompt).toFixed(2)} by the clock, ${(ofPrompt / ofMemory).toFixed(2)} by processor time (target 0.60)`,
  );
};

const fact = (n: number): string => `I prefer metric units in report number ${n}.`;

interface Read {
  /** When it began. */
  readonly at: number;
  readonly milliseconds: number;
}

/** Reads, one after the other, as long as something goes on. */
const readsOf = async (read: () => Promise<unknown>, meanwhile: () => Promise<unknown>): Promise<readonly Read[]> => {
  const reads: Read[] = [];
  let goesOn = true;
  const done = meanwhile().finally(() => (goesOn = false));
  while (goesOn) {
    const [at, began] = [Date.now(), performance.now()];
    await read();
    reads.push({ at, milliseconds: performance.now() - began });
    await pause(2);
  }
  await done;
  return reads;
};

/** The 99th percentile, milliseconds. */
const p99 = (reads: readonly Read[]): number =>
  reads.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b)[Math.floor(reads.length * 0.99)] ?? 0;

type Send = (method: string, path: string) => Promise<string>;

/** Receipts of erasures, from the last place that was looked at. */
let [counted, after] = [0, ''];
const receiptsIn = async (send: Send): Promise<number> => {
  for (;;) {
    const query = `type=ContentErased&order=asc&limit=100${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
    const { items } = JSON.parse(await send('GET', `/audit/events?${query}`)) as { items: { position: string }[] };
    counted += items.length;
    after = items.at(-1)?.position ?? after;
    if (items.length < 100) return counted;
  }
};

/** When the last of them was written, once no more come. One is read at a time: reading all would slow the reads that are measured. */
const lastReceipt = async (send: Send): Promise<number> => {
  for (let last = ''; ; await pause(2_000)) {
    const newest = JSON.parse(await send('GET', '/audit/events?type=ContentErased&order=desc&limit=1')) as {
      items: { id: string; recordedAt: string }[];
    };
    const { id, recordedAt } = newest.items[0] ?? { id: '', recordedAt: '' };
    if (id === last) return Date.parse(recordedAt);
    last = id;
  }
};

/** Once no more of them come. */
const settledReceipts = async (send: Send): Promise<number> => {
  for (let last = -1; ; await pause(2_000)) {
    const now = await receiptsIn(send);
    if (now === last) return now;
    last = now;
  }
};

void main();

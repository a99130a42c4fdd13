import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CORE, idOf, words } from './mixed-work';
import { ask, startProduct } from './product';
import { percentile } from './rate';

/**
 * Reads of others while files are ingested that need a parser, each in a process of its own: how long they take, and how long the main
 * thread was ready but waited for a processor. Needs `npm run build`; `PRODUCT` names another checkout, to compare with.
 */

const FILES = Number(process.env['FILES'] ?? 25);
const IDLE_MS = 5_000;

const html = (): string =>
  `<html><body>${Array.from({ length: 10 }, () => `<p>${words(10)}.</p>`).join('')}</body></html>`;
/** Milliseconds that the main thread has waited for a processor (Linux alone). */
const waitedOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const product = await startProduct(folder);
  const call = (method: string, path: string, body?: object) => ask(product, method, CORE + path, body);
  const newAgent = async () => idOf(await call('POST', '/agents', { name: 'Bench', model: 'local-chat' }));
  const ingested = async (count: number): Promise<void> => {
    const path = `/knowledge/${await newAgent()}/documents`;
    for (let at = 0; at < count; at += 1)
      await call('POST', path, { name: `Page ${at}.html`, content: html(), mimeType: 'text/html' });
    const waiting = async (status: string): Promise<boolean> =>
      (JSON.parse(await call('GET', `${path}?status=${status}&limit=1`)) as { items: unknown[] }).items.length > 0;
    while ((await waiting('Pending')) || (await waiting('Processing'))) await pause(50);
    if (await waiting('Failed')) throw new Error('a file failed');
  };
  const agent = await newAgent();
  /** Reads an Agent 50 times a second, for so long as `work` runs. */
  const reads = async (what: string, work: Promise<unknown>): Promise<void> => {
    const took: number[] = [];
    const [began, waited] = [performance.now(), waitedOf(product.pid)];
    let ended = false;
    void work.finally(() => (ended = true));
    while (!ended) {
      const started = performance.now();
      await call('GET', `/agents/${agent}`);
      took.push(performance.now() - started);
      await pause(20);
    }
    await work;
    console.log(
      `${what}, ${((performance.now() - began) / 1e3).toFixed(1)} s: reads p50 ${percentile(took, 0.5).toFixed(1)} ms, p99 ${percentile(took, 0.99).toFixed(1)} ms; the main thread waited ${(waitedOf(product.pid) - waited).toFixed(0)} ms for a processor`,
    );
  };
  try {
    await ingested(2);
    await reads('idle', pause(IDLE_MS));
    await reads(`${FILES} HTML files`, ingested(FILES));
  } finally {
    await product.stop();
    rmSync(folder, { recursive: true });
  }
};

void main();

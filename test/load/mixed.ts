import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startChild } from '../e2e/child';
import { AGENTS, any, type Call, CORE, drawn, idOf, type Known, words } from './mixed-work';
import { KEY, startProduct, type Started } from './product';

/**
 * Everything at once for a long time: CLIENTS ask, follow up, search, upload, change, read, delete and use the gateway, RATE
 * calls a second together, against the built product as `npm start` runs it. Prints the memory of the process every minute
 * (MB: of the machine, and what V8 holds) and how it grew in the last third; ends with 1 where an answer was not expected.
 * Needs `npm run build`. `PRODUCT` names another checkout, built, to compare with.
 * `MINUTES=30 npm exec -- node --require ./test/register.cjs test/load/mixed.ts`
 */

const MINUTES = Number(process.env['MINUTES'] ?? 10);
const CLIENTS = Number(process.env['CLIENTS'] ?? 6);
const RATE = Number(process.env['RATE'] ?? 74);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

interface Sample {
  readonly minute: number;
  readonly rss: number;
  readonly children: number;
  readonly heap: number;
  /** What V8 took of the machine's memory for it. */
  readonly committed: number;
  readonly external: number;
}

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'load-mixed-'));
  const upstream = await startChild('test/load/gateway-upstream.ts', {});
  const modelsFile = join(folder, 'models.json');
  writeFileSync(
    modelsFile,
    JSON.stringify({
      titleModel: null,
      providers: { mock: { kind: 'openai', baseUrl: `${upstream.url}/v1` } },
      models: [
        { key: 'mock', provider: 'mock', kind: 'chat', pricing: { currency: 'USD', input: '0.25', output: '2' } },
      ],
    }),
  );
  const product = await startProduct(join(folder, 'data'), { MODELS_FILE: modelsFile });
  const answers = new Map<string, number>();
  let calls = 0;
  const call: Call = async (method, path, body) => {
    calls += 1;
    const response = await fetch(product.url + path, {
      method,
      headers: { 'x-api-key': KEY, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    // Two clients may meet in one conversation.
    if (response.status >= 300 && !text.includes('turn_in_progress')) {
      const what = `${method} ${path.replaceAll(/[\da-f-]{36}/g, ':id')}: ${response.status} ${text.slice(0, 200)}`;
      answers.set(what, (answers.get(what) ?? 0) + 1);
    }
    return { status: response.status, text };
  };
  try {
    const known = await prepare(call);
    const began = performance.now();
    const ends = began + MINUTES * 60_000;
    const client = async (own: number): Promise<void> => {
      for (let turn = 0; performance.now() < ends; turn += 1) {
        const early = began + ((turn * CLIENTS + own) * 1_000) / RATE - performance.now();
        if (early > 0) await pause(early);
        await drawn().run(call, any(known) as Known);
      }
    };
    const samples: Sample[] = [];
    const watch = async (): Promise<void> => {
      while (performance.now() < ends) {
        await pause(Math.min(60_000, MINUTES * 6_000));
        const sample = await sampled((performance.now() - began) / 60_000, product, call);
        samples.push(sample);
        say(line(sample, calls));
      }
    };
    await Promise.all([...Array.from({ length: CLIENTS }, (_, own) => client(own)), watch()]);
    say(growth(samples));
  } finally {
    await product.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  for (const [what, count] of answers) say(`${count} times ${what}`);
  say(
    `${calls} calls, ${[...answers.values()].reduce((sum, count) => sum + count, 0)} of them with an answer that was not expected`,
  );
  if (answers.size > 0) process.exitCode = 1;
};

const prepare = async (call: Call): Promise<Known[]> => {
  await call('POST', `${CORE}/cost-control`, { scope: { type: 'instance' }, amount: '1000000', window: 'month' });
  const known: Known[] = [];
  for (let agent = 0; agent < AGENTS; agent += 1) {
    const spaceId = idOf((await call('POST', `${CORE}/spaces`, { name: `Space ${agent}` })).text);
    const agentId = idOf(
      (
        await call('POST', `${CORE}/agents`, {
          spaceId,
          name: `Agent ${agent}`,
          model: 'local-chat',
          knowledgeEnabled: true,
          systemPrompt: words(80),
        })
      ).text,
    );
    known.push({ spaceId, agentId, conversations: [], documents: [] });
  }
  return known;
};

const sampled = async (minute: number, { pid }: Started, call: Call): Promise<Sample> => {
  const { text } = await call('GET', '/metrics');
  const metric = (name: string): number => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1] ?? 0) / 1024 ** 2;
  return {
    minute,
    rss: memoryOf(pid),
    children: childrenOf(pid).reduce((sum, child) => sum + memoryOf(child), 0),
    heap: metric('nodejs_heap_size_used_bytes'),
    committed: metric('nodejs_heap_size_total_bytes'),
    external: metric('nodejs_external_memory_bytes'),
  };
};

/** Resident, MB. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter((child) => child.trim() !== '')
      .map(Number),
  );

const line = ({ minute, rss, children, heap, committed, external }: Sample, calls: number): string =>
  `${minute.toFixed(0).padStart(3)} min ${String(calls).padStart(7)} calls  ${rss.toFixed(0).padStart(5)} MB: heap ${committed.toFixed(0)} of which ${heap.toFixed(0)} are used, buffers ${external.toFixed(0)}; the processes it started ${children.toFixed(0)} MB`;

/** How the memory of the last third compares to that of the third before, by their means. */
const growth = (samples: readonly Sample[]): string => {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const mean = (of: readonly Sample[]): number => of.reduce((sum, { rss }) => sum + rss, 0) / of.length;
  const [before, last] = [mean(samples.slice(-2 * third, -third)), mean(samples.slice(-third))];
  return `the last third holds ${last.toFixed(0)} MB on average, the third before it ${before.toFixed(0)} MB: ${(((last - before) / before) * 100).toFixed(1)} %`;
};

void main();

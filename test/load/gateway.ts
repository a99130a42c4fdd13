import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { vectorsIn } from '@app/models';
import { encoded } from '../../apps/api/src/compat/embedding-vectors';
import { type Child, startChild } from '../e2e/child';
import { median, pinned, type Rate, rateOf } from './rate';
import { KEY } from './product';

/**
 * The compatible gateway beside the mock provider asked directly and a bare Fastify + undici relay, each in a process of its
 * own, in turn, in rounds: JSON and streams at 64 connections and time to the first token at one, without a limit and with
 * one that every call is held against, and 500 streams held. Ratios of medians within one run count; the machine may be shared.
 * `npm exec -- node --require ./test/register.cjs test/load/gateway.ts`
 */

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const SECONDS = Number(process.env['SECONDS'] ?? 3);
/** Processors. Availability is asked before the first is taken, of which only one would be left. */
const [SERVING, ASKING] = [0, 1];
/** Rounds until the code that runs often is compiled. */
const WARMING = 4;
/** Time in which the streams that are held begin. */
const OPENING_MS = 2_000;
const HELD = Number(process.env['HELD'] ?? 500);
const PATH = '/v1/chat/completions';

interface Target {
  readonly child: Child;
  readonly url: string;
}

const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
const request = (more: object): string =>
  JSON.stringify({ model: 'mock', messages: [{ role: 'user', content: 'word '.repeat(100) }], ...more });
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const main = async (): Promise<void> => {
  const isPinned = pinned(process.pid, ASKING);
  say(
    isPinned
      ? 'each server on one processor, the provider and the load on another'
      : 'servers, provider and load share all processors',
  );
  const folder = mkdtempSync(join(tmpdir(), 'load-gateway-'));
  const upstream = await startChild('test/load/gateway-upstream.ts', {});
  const modelsFile = join(folder, 'models.json');
  const pricing = { currency: 'USD', input: '0.25', output: '2' };
  writeFileSync(
    modelsFile,
    JSON.stringify({
      providers: { mock: { kind: 'openai', baseUrl: `${upstream.url}/v1` } },
      models: [{ key: 'mock', provider: 'mock', kind: 'chat', pricing }],
    }),
  );
  const relay = await startChild('test/load/gateway-relay.ts', { UPSTREAM: upstream.url });
  const product = await startChild('apps/api/src/main.ts', {
    DATA_DIR: folder,
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'warn',
    MODELS_FILE: modelsFile,
  });
  const nest = await startChild('test/load/http-baseline.ts', {
    CONSTANTS: JSON.stringify({ one: `{"a":"${'x'.repeat(800)}"}`, list: '{}' }),
  });
  const targets = {
    direct: { child: upstream, url: upstream.url + PATH },
    relay: { child: relay, url: relay.url + PATH },
    product: { child: product, url: `${product.url}/api/compat${PATH}` },
  };
  if (isPinned) for (const { pid } of [relay, product, nest]) pinned(pid, SERVING);
  try {
    // First, so that what a load left in the heap does not count.
    await held(targets);
    const bare = await rateOf(nest.pid, `${nest.url}/text/one`, SECONDS, {}, { connections: 64 });
    say(`a bare Nest route: ${bare.cpuMicroseconds.toFixed(0)} µs of processor a request`);
    for (const limited of [false, true]) {
      if (limited) await setLimit(product);
      const under = limited ? 'under a limit' : 'without a limit';
      await compare(`JSON, 64 connections, ${under}`, targets, request({}), 1);
      await compare(`streams of 50 chunks, 64 connections, ${under}`, targets, request({ stream: true }), 50);
      await firstToken(under, targets);
    }
    vectors();
  } finally {
    for (const child of [product, relay, nest, upstream]) await child.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** From now on every call is held and settled under a limit that is never reached. */
const setLimit = async ({ url }: Child): Promise<void> => {
  const limit = { scope: { type: 'instance' }, amount: '1000000', window: 'month' };
  const { status } = await fetch(`${url}/api/v1/core/cost-control`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(limit),
  });
  if (status !== 201) throw new Error(`the limit was not set: ${status}`);
};

const compare = async (
  what: string,
  targets: Readonly<Record<string, Target>>,
  body: string,
  units: number,
): Promise<void> => {
  const seen = new Map<string, Rate[]>(Object.keys(targets).map((name) => [name, []]));
  for (let round = -WARMING; round < ROUNDS; round += 1) {
    for (const [name, { child, url }] of Object.entries(targets)) {
      const rate = await rateOf(child.pid, url, SECONDS, headers, { body, connections: 64 });
      if (round >= 0) seen.get(name)?.push(rate);
    }
  }
  const of = (name: string, read: (rate: Rate) => number): number => median((seen.get(name) ?? []).map(read));
  say(what);
  for (const name of Object.keys(targets)) {
    const perSecond = of(name, (rate) => rate.perSecond);
    say(
      `  ${name.padEnd(8)} ${Math.round(perSecond * units)} a second, ${(perSecond / of('direct', (rate) => rate.perSecond)).toFixed(2)} of direct; ${of(name, (rate) => rate.cpuMicroseconds).toFixed(0)} µs of processor a call`,
    );
  }
};

/** Calls a stream; hands out each piece as it comes. */
const stream = (pool: Pool, path: string, body: string, piece: (text: string) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (_, chunk) => piece(chunk.toString()),
        onResponseEnd: () => resolve(),
        onResponseError: (_, error) => reject(error),
      },
    );
  });

const poolOf = ({ url }: Target): { readonly pool: Pool; readonly path: string } => ({
  pool: new Pool(new URL(url).origin),
  path: new URL(url).pathname,
});

const firstToken = async (under: string, targets: Readonly<Record<string, Target>>): Promise<void> => {
  const times = new Map<string, number[]>();
  const pools = Object.entries(targets).map(([name, target]) => ({ name, ...poolOf(target) }));
  for (let call = 0; call < 400; call += 1) {
    for (const { name, pool, path } of pools) {
      const startedAt = performance.now();
      let first: number | undefined;
      await stream(pool, path, request({ stream: true }), () => (first ??= performance.now() - startedAt));
      if (call >= 100) times.set(name, [...(times.get(name) ?? []), first ?? 0]);
    }
  }
  await Promise.all(pools.map(({ pool }) => pool.close()));
  const direct = median(times.get('direct') ?? []);
  say(`time to the first token, one connection, ${under}, median`);
  for (const [name, all] of times)
    say(`  ${name.padEnd(8)} ${median(all).toFixed(2)} ms, ${(median(all) - direct).toFixed(2)} ms added`);
};

interface Held {
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
  /** MB. */
  readonly most: number;
}

/**
 * Streams held at once: how long a chunk takes from the provider to the client while all are open, and the memory of the
 * server. They begin one after the other, since 500 that begin at once measure how long it takes to begin.
 */
const held = async (targets: Readonly<Record<string, Target>>): Promise<void> => {
  say(`${HELD} streams at once, a chunk every 20 ms: delay of a chunk, medians of ${ROUNDS} rounds`);
  const before = new Map(Object.entries(targets).map(([name, { child }]) => [name, memoryOf(child.pid)]));
  const seen = new Map<string, Held[]>(Object.keys(targets).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, target] of Object.entries(targets)) seen.get(name)?.push(await heldBy(target));
  for (const [name, rounds] of seen) {
    const of = (read: (round: Held) => number): number => median(rounds.map(read));
    say(
      `  ${name.padEnd(8)} median ${of((round) => round.median).toFixed(1)} ms, p99 ${of((round) => round.p99).toFixed(1)} ms (${rounds.map(({ p99 }) => p99.toFixed(1)).join(', ')}); ${Math.round(before.get(name) ?? 0)} MB at rest, ${Math.round(of((round) => round.most))} MB at most`,
    );
  }
};

const heldBy = async (target: Target): Promise<Held> => {
  const { pool, path } = poolOf(target);
  const delays: number[] = [];
  let begun = 0;
  let ended = 0;
  const heard = (text: string): void => {
    const now = performance.timeOrigin + performance.now();
    if (begun < HELD || ended > 0) return;
    for (const [, sentAt] of text.matchAll(/"content":"(\d+\.?\d*)"/g)) delays.push(now - Number(sentAt));
  };
  const one = async (number: number): Promise<void> => {
    await pause((OPENING_MS * number) / HELD);
    let isFirst = true;
    await stream(pool, path, request({ stream: true, user: 'paced' }), (text) => {
      if (isFirst) begun += 1;
      isFirst = false;
      heard(text);
    });
    ended += 1;
  };
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, memoryOf(target.child.pid))), 100);
  await Promise.all(Array.from({ length: HELD }, (_, number) => one(number)));
  clearInterval(watch);
  await pool.close();
  if (delays.length === 0) throw new Error('the streams were never open all at once');
  const sorted = delays.toSorted((a, b) => a - b);
  return { median: median(delays), p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, most };
};

const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const vectors = (): void => {
  const given = {
    data: Array.from({ length: 2_048 }, (_, index) => ({
      index,
      embedding: Array.from({ length: 1_536 }, () => Math.random() - 0.5),
    })),
  };
  const times = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    for (const vector of vectorsIn(given, given.data.length)) encoded(vector, 'base64', undefined);
    return performance.now() - startedAt;
  });
  say(`2048 vectors of 1536 numbers to base64: ${median(times).toFixed(1)} ms`);
};

void main();

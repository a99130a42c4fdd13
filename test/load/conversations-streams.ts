import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Child } from '../e2e/child';
import { cpuSeconds, median } from './rate';

const ROUNDS = Number(process.env['ROUNDS'] ?? 40);
const HELD = Number(process.env['HELD'] ?? 200);
/** How often the streams are held. */
const HOLDINGS = Number(process.env['HOLDINGS'] ?? 3);
/** Time in which the streams that are held begin: 50 a second, since beginning 100 takes more than a core. */
const OPENING_MS = 4_000;
/** Time behind the last beginning after which pieces count. */
const SETTLING_MS = 2_000;
/** Streams at once, and rounds, in which saving is compared with not saving. */
const [STREAMS, STREAM_ROUNDS] = [24, 20];
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Where streams come from. */
export interface Target {
  readonly child: Child;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: () => object;
}

/** Calls a stream; hands out each piece as it comes. */
const stream = (pool: Pool, { path, headers, body }: Target, piece: (text: string) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    pool.dispatch(
      {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ ...body(), stream: true }),
      },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_, status) => {
          if (status !== 200) reject(new Error(`${path}: ${status}`));
        },
        onResponseData: (_, chunk) => piece(chunk.toString()),
        onResponseEnd: () => resolve(),
        onResponseError: (_, error) => reject(error),
      },
    );
  });

const poolOf = ({ child }: Target): Pool => new Pool(child.url);

/** Time to the first token of the product, beside the provider asked directly, one after the other. */
export const firstTokens = async (targets: { readonly direct: Target; readonly product: Target }): Promise<void> => {
  const seen = Object.entries(targets).map(([name, target]) => ({
    name,
    target,
    pool: poolOf(target),
    times: [] as number[],
  }));
  for (let round = -20; round < 4 * ROUNDS; round += 1)
    for (const { target, pool, times } of seen) {
      const startedAt = performance.now();
      let first: number | undefined;
      await stream(pool, target, (text) => {
        if (text.includes('An answer')) first ??= performance.now() - startedAt;
      });
      if (first === undefined) throw new Error(`${target.path} said nothing`);
      if (round >= 0) times.push(first);
    }
  await Promise.all(seen.map(({ pool }) => pool.close()));
  const [direct = 0, product = 0] = seen.map(({ times }) => median(times));
  say(
    `time to the first token: ${product.toFixed(1)} ms, directly ${direct.toFixed(1)} ms, ${(product - direct).toFixed(1)} ms added (at most 25)`,
  );
};

/** Answers of about a second, many at once, by a product that saves them and by one that does not. */
export const saving = async (both: { readonly saved: Target; readonly unsaved: Target }): Promise<void> => {
  const seen = Object.values(both).map((target) => ({ target, pool: poolOf(target), cpu: [] as number[] }));
  for (let round = -1; round < STREAM_ROUNDS; round += 1)
    for (const { target, pool, cpu } of seen) {
      const { pid } = target.child;
      const before = cpuSeconds(pid);
      await Promise.all(Array.from({ length: STREAMS }, () => stream(pool, target, () => undefined)));
      if (round >= 0) cpu.push(((cpuSeconds(pid) - before) * 1e3) / STREAMS);
    }
  await Promise.all(seen.map(({ pool }) => pool.close()));
  const [saved = 0, unsaved = 0] = seen.map(({ cpu }) => median(cpu));
  say(
    `processor time of a stream: saved ${saved.toFixed(1)} ms, not saved ${unsaved.toFixed(1)} ms; throughput ${(100 * (1 - unsaved / saved)).toFixed(0)} % less (at most 15)`,
  );
};

/**
 * Streams held at once: how long a piece takes from the provider to the client while all are open, through the product and through a bare
 * relay that looks at nothing. They begin one after the other, since so many that begin at once measure how long it takes to begin.
 */
export const held = async (targets: {
  readonly direct: Target;
  readonly relay: Target;
  readonly product: Target;
}): Promise<void> => {
  const seen = Object.entries(targets).map(([name, target]) => ({ name, target, all: [] as Held[] }));
  // The first round is not counted: in it the code that runs often is compiled.
  for (let round = -1; round < HOLDINGS; round += 1)
    for (const { target, all } of seen) {
      const one = await heldBy(target);
      if (round >= 0) all.push(one);
    }
  say(`${HELD} streams at once, a piece every 20 ms: delay of a piece, medians of ${HOLDINGS} rounds`);
  const of = (all: readonly Held[], read: (one: Held) => number): number => median(all.map(read));
  const direct = of(seen[0]?.all ?? [], ({ p99 }) => p99);
  for (const { name, all } of seen) {
    const p99 = of(all, (one) => one.p99);
    say(
      `  ${name.padEnd(8)} median ${of(all, (one) => one.median).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${all.map((one) => one.p99.toFixed(1)).join(', ')}), ${(p99 - direct).toFixed(1)} ms added (less than 20); ${of(all, (one) => one.cpu).toFixed(0)} µs of processor a piece`,
    );
  }
};

interface Held {
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
  /** Processor time of the server for a piece, microseconds. */
  readonly cpu: number;
}

const heldBy = async (target: Target): Promise<Held> => {
  const pool = poolOf(target);
  const delays: number[] = [];
  let [begun, ended, pieces, countsFrom] = [0, 0, 0, Infinity];
  const before = cpuSeconds(target.child.pid);
  const heard = (text: string): void => {
    const now = performance.timeOrigin + performance.now();
    for (const [, sentAt] of text.matchAll(/"(?:content|delta)":"((?:\d+\.?\d* )+)"/g)) {
      // What came while a reader was slow comes at once: each piece of it counts.
      for (const each of sentAt?.trimEnd().split(' ') ?? []) {
        pieces += 1;
        if (now >= countsFrom && ended === 0) delays.push(now - Number(each));
      }
    }
  };
  const one = async (number: number): Promise<void> => {
    await pause((OPENING_MS * number) / HELD);
    let isFirst = true;
    await stream(pool, target, (text) => {
      if (isFirst) begun += 1;
      if (isFirst && begun === HELD) countsFrom = performance.timeOrigin + performance.now() + SETTLING_MS;
      isFirst = false;
      heard(text);
    });
    ended += 1;
  };
  await Promise.all(Array.from({ length: HELD }, (_, number) => one(number)));
  await pool.close();
  if (delays.length === 0) throw new Error('the streams were never open all at once');
  return {
    median: median(delays),
    p99: delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? 0,
    cpu: ((cpuSeconds(target.child.pid) - before) * 1e6) / pieces,
  };
};

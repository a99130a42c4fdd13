import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Child, startChild } from '../e2e/child';
import { fillWithMemories } from './memories';
import { ask, KEY } from './product';
import { median } from './rate';

/**
 * Time to the first token of a page's stream: of an Agent with 50 Skills whose two buckets of memories are full beside one with neither
 * (target: at most 10 ms later at the median), then the same beside so many memories of other users with that Agent (target: at most 1.1 times as
 * long). Answers are asked for one after the other, each in a conversation of its own. `ROUNDS` (100), `OTHERS` (100000).
 */

const ROUNDS = Number(process.env['ROUNDS'] ?? 100);
const WARM = 20;
const OTHERS = Number(process.env['OTHERS'] ?? 100_000);
const SKILLS = 50;
const MEMORIES = 100;
const CORE = '/api/v1/core';

const call = async <T>(child: Child, method: string, path: string, body?: object): Promise<T> =>
  JSON.parse((await ask(child, method, path, body)) || '{}') as T;
const made = async (child: Child, path: string, body: object): Promise<string> =>
  (await call<{ id: string }>(child, 'POST', `${CORE}${path}`, body)).id;

interface Agents {
  readonly plain: string;
  readonly full: string;
  readonly fullSpace: string;
}

/** An Agent with nothing, and one with all that it may have. */
const makeAgents = async (child: Child): Promise<Agents> => {
  const agent = async (name: string): Promise<readonly [spaceId: string, agentId: string]> => {
    const spaceId = await made(child, '/spaces', { name });
    return [spaceId, await made(child, '/agents', { spaceId, name, model: 'instant', sharedMemoryEnabled: true })];
  };
  const [[, plain], [fullSpace, full]] = [await agent('Plain'), await agent('Full')];
  for (let n = 0; n < SKILLS; n += 1)
    await made(child, '/skills', {
      scope: 'space',
      spaceId: fullSpace,
      name: `Procedure ${n}`,
      description: `Use it when a customer asks about matter number ${n} of the yearly report.`,
      instructions: 'Read the report first. Then answer.',
      publish: true,
    });
  const memories = `/memory/${full}/memories`;
  for (let n = 0; n < MEMORIES; n += 1) {
    await made(child, memories, { text: `I prefer metric units in report number ${n}.` });
    const proposal = await made(child, memories, { text: `Report number ${n} is in German.`, kind: 'shared' });
    await call(child, 'POST', `${CORE}${memories}/${proposal}/confirm`);
  }
  return { plain, full, fullSpace };
};

/** Signs a page in. */
const cookieOf = async (child: Child): Promise<string> => {
  const response = await fetch(`${child.url}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiKey: KEY }),
  });
  return String(response.headers.get('set-cookie')).split(';')[0] as string;
};

/** Milliseconds until a new conversation streams the first piece of its answer. */
const firstToken = async (child: Child, cookie: string, agentId: string): Promise<number> => {
  const began = performance.now();
  const response = await fetch(`${child.url}${CORE}/llm/${agentId}/conversation`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify({ message: 'Which units are in the yearly report?', stream: true }),
  });
  let took: number | undefined;
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? [])
    if (decoder.decode(piece as Uint8Array).includes('An answer')) took ??= performance.now() - began;
  if (took === undefined) throw new Error(`the stream said nothing: ${response.status}`);
  return took;
};

/** Medians of both Agents, asked in turns. */
const measured = async (child: Child, { plain, full }: Agents): Promise<Readonly<Record<'plain' | 'full', number>>> => {
  const cookie = await cookieOf(child);
  const times = { plain: [] as number[], full: [] as number[] };
  for (let round = -WARM; round < ROUNDS; round += 1)
    for (const [name, agentId] of [
      ['plain', plain],
      ['full', full],
    ] as const) {
      const took = await firstToken(child, cookie, agentId);
      if (round >= 0) times[name].push(took);
    }
  return { plain: median(times.plain), full: median(times.full) };
};

/** Null: not known yet. */
type Lag = { readonly lagEvents: number | null };
interface Health {
  readonly policies: readonly Lag[];
  readonly projections: readonly Lag[];
}
/** Waits until views and policies have seen all of the log. */
const caughtUp = async (child: Child): Promise<void> => {
  for (; ; await pause(1_000)) {
    const { policies, projections } = await call<Health>(child, 'GET', '/health');
    const isNear = ({ lagEvents }: Lag): boolean => lagEvents !== null && lagEvents < 10;
    if (policies.length > 0 && projections.length > 0 && [...policies, ...projections].every(isNear)) return;
  }
};

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'load-first-token-'));
  const upstream = await startChild('test/load/conversations-upstream.ts', {});
  let product: Child | undefined;
  const start = async (): Promise<Child> =>
    (product = await startChild('apps/api/src/main.ts', {
      DATA_DIR: folder,
      PORT: '0',
      BOOTSTRAP_API_KEY: KEY,
      LOG_LEVEL: 'warn',
      RATE_LIMIT: '0',
      MODELS_FILE: join(folder, 'models.json'),
    }));
  writeFileSync(
    join(folder, 'models.json'),
    JSON.stringify({
      titleModel: null,
      providers: { mock: { kind: 'openai', baseUrl: `${upstream.url}/v1` } },
      models: [
        {
          key: 'instant',
          provider: 'mock',
          kind: 'chat',
          pricing: { currency: 'USD', input: '0.25', output: '2' },
        },
      ],
    }),
  );
  try {
    const agents = await makeAgents(await start());
    await product?.stop();
    let child = await start();
    await caughtUp(child);
    const alone = await measured(child, agents);
    console.log(
      `first token with ${SKILLS} Skills and both buckets full ${alone.full.toFixed(1)} ms, with none ${alone.plain.toFixed(1)} ms: ${(alone.full - alone.plain).toFixed(1)} ms later (target 10)`,
    );
    await child.stop();
    await fillWithMemories(folder, { agentId: agents.full, spaceId: agents.fullSpace }, OTHERS);
    child = await start();
    await caughtUp(child);
    const beside = await measured(child, agents);
    console.log(
      `beside ${OTHERS} memories of others ${beside.full.toFixed(1)} ms, with none ${beside.plain.toFixed(1)} ms: ${(beside.full / alone.full).toFixed(2)} times as long as before (target 1.10), with none ${(beside.plain / alone.plain).toFixed(2)} times`,
    );
  } finally {
    await product?.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

void main();

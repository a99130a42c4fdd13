import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Child, startChild } from '../e2e/child';
import { firstTokens, held, saving, type Target } from './conversations-streams';
import { ask, KEY } from './product';
import { median } from './rate';

/**
 * Conversations with an Agent beside a mock provider that is asked directly: time to the first token that the whole path adds
 * (history, retrieval, question recorded), a conversation of 500 messages beside one of 10 (its latest page and its next answer, warm
 * and in a process that has just started), what saving streams costs, and the delay of a piece while 200 are streamed.
 * Ratios of medians within one run count; the machine may be shared. `CHUNKS` (10000), `LONG` (500 messages), `ROUNDS` (40),
 * `HELD` (200 streams), `PARTS` (lengths,saving,held,first).
 * `npm exec -- node --require ./test/register.cjs test/load/conversations.ts`
 */

const CHUNKS = Number(process.env['CHUNKS'] ?? 10_000);
const LONG = Number(process.env['LONG'] ?? 500);
const SHORT = 10;
const ROUNDS = Number(process.env['ROUNDS'] ?? 40);
/** Conversations of each length that a process which has just started goes on with. */
const COLD = 20;
/** What is measured: all by default. */
const PARTS = (process.env['PARTS'] ?? 'lengths,saving,held,first').split(',');
const isAsked = (part: string): boolean => PARTS.includes(part);
const CORE = '/api/v1/core';
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const headers = { 'content-type': 'application/json', 'x-api-key': KEY };

const WORDS =
  'ferry harbour backup key nightly passage invoice ledger winter timetable pilot engine crew cargo tide'.split(' ');
let seed = 7;
const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
const words = (count: number): string =>
  Array.from(
    { length: count },
    () => `${WORDS[Math.floor(random() * WORDS.length)]}${Math.floor(random() * 900)}`,
  ).join(' ');

interface Answered {
  readonly conversationId: string;
  readonly message: { readonly id: string };
}

const call = async <T>(child: Child, method: string, path: string, body?: object): Promise<T> =>
  JSON.parse((await ask(child, method, CORE + path, body)) || '{}') as T;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

const agentWith = async (product: Child, spaceId: string, model: string, more: object = {}): Promise<string> => {
  const name = `Load ${model} ${Object.keys(more).join()}`;
  return (await call<{ id: string }>(product, 'POST', '/agents', { spaceId, name, model, ...more })).id;
};

/** A conversation of so many messages, and the last of them. */
const conversationOf = async (product: Child, agentId: string, messages: number): Promise<Answered> => {
  const path = `/llm/${agentId}/conversation`;
  let last = await call<Answered>(product, 'POST', path, { message: words(40) });
  for (let made = 2; made < messages; made += 2)
    last = await call<Answered>(product, 'POST', path, { conversationId: last.conversationId, message: words(40) });
  return last;
};

const compared = (what: string, long: readonly number[], short: readonly number[], most: number): void => {
  const [a, b] = [median(long), median(short)];
  say(
    `${what}: ${LONG} messages ${a.toFixed(2)} ms, ${SHORT} messages ${b.toFixed(2)} ms, ratio ${(a / b).toFixed(2)} (at most ${most})`,
  );
};

/** Each round goes on at the same message, so that the branch stays as long as it was. */
const continued = (product: Child, agentId: string, { conversationId, message }: Answered): Promise<unknown> =>
  call(product, 'POST', `/llm/${agentId}/conversation`, { conversationId, parentId: message.id, message: words(40) });
const listed = (product: Child, agentId: string, { conversationId }: Answered): Promise<unknown> =>
  call(product, 'GET', `/llm/${agentId}/conversation/${conversationId}/messages`);

const fillKnowledge = async (product: Child, agentId: string): Promise<void> => {
  await call(product, 'PUT', `/agents/${agentId}`, { chunking: { maxTokens: 50, overlapTokens: 0 } });
  const perDocument = 500;
  const ids: string[] = [];
  for (let made = 0; made < CHUNKS; made += perDocument) {
    // A chunk each: sections are not joined.
    const content = Array.from(
      { length: Math.min(perDocument, CHUNKS - made) },
      (_, index) => `# ${made + index}\n\n${words(12)}.`,
    );
    const body = { name: `Document ${made}`, content: content.join('\n\n'), mimeType: 'text/markdown' };
    ids.push((await call<{ id: string }>(product, 'POST', `/knowledge/${agentId}/documents`, body)).id);
  }
  const startedAt = performance.now();
  let chunks = 0;
  for (const id of ids)
    for (;;) {
      const found = await call<{ status: string; chunkCount: number }>(
        product,
        'GET',
        `/knowledge/${agentId}/documents/${id}`,
      );
      if (found.status === 'Failed') throw new Error('a document failed');
      if (found.status === 'Ready') {
        chunks += found.chunkCount;
        break;
      }
      await pause(250);
    }
  say(`${chunks} chunks, ingested in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
};

const lengths = async (product: Child, agentId: string, restart: () => Promise<Child>): Promise<Child> => {
  const make = async (messages: number): Promise<readonly Answered[]> => {
    const made: Answered[] = [];
    for (let count = 0; count < COLD; count += 1) made.push(await conversationOf(product, agentId, messages));
    return made;
  };
  const [long, short] = [await make(LONG), await make(SHORT)];
  const [listing, going] = [new Map<string, number[]>(), new Map<string, number[]>()];
  const note = (of: Map<string, number[]>, name: string, took: number) => of.set(name, [...(of.get(name) ?? []), took]);
  for (let round = -10; round < ROUNDS; round += 1)
    for (const [name, [one]] of Object.entries({ long, short })) {
      if (one === undefined) throw new Error('no conversation');
      const took = [
        await timed(() => listed(product, agentId, one)),
        await timed(() => continued(product, agentId, one)),
      ];
      if (round < 0) continue;
      note(listing, name, took[0] as number);
      note(going, name, took[1] as number);
    }
  compared('latest page', listing.get('long') ?? [], listing.get('short') ?? [], 1.5);
  compared('next answer', going.get('long') ?? [], going.get('short') ?? [], 1.5);
  const again = await restart();
  // What every first request of a process does is done.
  for (let count = 0; count < 20; count += 1) await conversationOf(again, agentId, 4);
  const cold = new Map<string, number[]>();
  for (let index = 0; index < COLD; index += 1)
    for (const [name, all] of Object.entries({ long, short }))
      note(cold, name, await timed(() => continued(again, agentId, all[index] as Answered)));
  compared('next answer after a restart', cold.get('long') ?? [], cold.get('short') ?? [], 1.5);
  return again;
};

const main = async (): Promise<void> => {
  const folders = [mkdtempSync(join(tmpdir(), 'load-')), mkdtempSync(join(tmpdir(), 'load-'))] as const;
  const upstream = await startChild('test/load/conversations-upstream.ts', {});
  const relay = await startChild('test/load/gateway-relay.ts', { UPSTREAM: upstream.url });
  const models = JSON.stringify({
    titleModel: null,
    providers: { mock: { kind: 'openai', baseUrl: `${upstream.url}/v1` } },
    models: ['instant', 'long', 'paced'].map((key) => ({
      key,
      provider: 'mock',
      kind: 'chat',
      pricing: { currency: 'USD', input: '0.25', output: '2' },
    })),
  });
  const running = new Set<Child>([upstream, relay]);
  const start = async (script: string, folder: string): Promise<Child> => {
    writeFileSync(join(folder, 'models.json'), models);
    const environment = {
      DATA_DIR: folder,
      PORT: '0',
      BOOTSTRAP_API_KEY: KEY,
      LOG_LEVEL: 'warn',
      RATE_LIMIT: '0',
      MODELS_FILE: join(folder, 'models.json'),
    };
    const child = await startChild(script, environment);
    running.add(child);
    return child;
  };
  const stop = async (child: Child): Promise<void> => {
    await child.stop();
    running.delete(child);
  };
  const bare = (child: Child, model: string): Target => ({
    child,
    path: '/v1/chat/completions',
    headers: {},
    body: () => ({ model, messages: [{ role: 'user', content: words(40) }] }),
  });
  try {
    let product = await start('apps/api/src/main.ts', folders[0]);
    const { id: spaceId } = await call<{ id: string }>(product, 'POST', '/spaces', { name: 'Load' });
    const through = (child: Child, agentId: string, body: () => object): Target => ({
      child,
      path: `${CORE}/llm/${agentId}/conversation`,
      headers,
      body,
    });
    if (isAsked('lengths')) {
      const plain = await agentWith(product, spaceId, 'instant');
      product = await lengths(product, plain, async () => {
        await stop(product);
        return start('apps/api/src/main.ts', folders[0]);
      });
    }
    if (isAsked('saving')) {
      const other = await start('test/load/conversations-unsaved.ts', folders[1]);
      const { id: otherId } = await call<{ id: string }>(other, 'POST', '/spaces', { name: 'Load' });
      const body = () => ({ message: words(10) });
      await saving({
        saved: through(product, await agentWith(product, spaceId, 'long'), body),
        unsaved: through(other, await agentWith(other, otherId, 'long'), body),
      });
      await stop(other);
    }
    if (isAsked('held')) {
      const paced = await agentWith(product, spaceId, 'paced');
      await held({
        direct: bare(upstream, 'paced'),
        relay: bare(relay, 'paced'),
        product: through(product, paced, () => ({ message: 'How long does it take?' })),
      });
    }
    if (isAsked('first')) {
      const knowing = await agentWith(product, spaceId, 'instant', { knowledgeEnabled: true });
      await fillKnowledge(product, knowing);
      const { conversationId, message } = await conversationOf(product, knowing, SHORT);
      const body = () => ({ conversationId, parentId: message.id, message: `Which ${words(6)}?` });
      await firstTokens({ direct: bare(upstream, 'instant'), product: through(product, knowing, body) });
    }
  } finally {
    for (const child of running) await child.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
};

void main();

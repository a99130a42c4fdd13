import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openEventStoreLogReader } from '@app/event-log';
import { Pool } from 'undici';
import { type Child, startChild } from '../e2e/child';
import { type Calls, CountingProxy, type Target } from '../fixtures/counting-proxy';
import { cpuSeconds, median } from './rate';
import { CORE, type Kind, KINDS, type Request } from './round-trip-kinds';
import { startDouble } from './start-double';
import { KEY } from './product';

/**
 * What requests ask of EventStoreDB, and how fast they are beside the embedded log. Calls are counted by a proxy that reads the
 * HTTP/2 frames between the product and the server; rates are taken without it, in turn with the embedded log. On the double in a
 * process of its own, or on the empty server (one node) that `EMPTY_EVENTSTORE_URL` names. `ONLY=GET` runs what begins so.
 * `npm exec -- node --require ./test/register.cjs test/load/round-trips.ts`
 */

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const SECONDS = Number(process.env['SECONDS'] ?? 3);
const WARMING_SECONDS = 3;
const IDLE_SECONDS = 30;
/** Nothing was asked for so long: all that requests set off is over. */
const QUIET_MS = 1_000;
const MOST_CALLERS = 64;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** A server of ours and what it has to be asked with. */
interface Product {
  readonly child: Child;
  readonly pool: Pool;
  readonly agents: readonly string[];
}

const ask = async (pool: Pool, { method, path, body }: Request): Promise<unknown> => {
  const { statusCode, body: answer } = await pool.request({
    method,
    path,
    headers: {
      ...(path.startsWith(CORE) ? { 'x-api-key': KEY } : { authorization: `Bearer ${KEY}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
  return JSON.parse(text);
};

const start = async (folder: string, environment: Readonly<Record<string, string>>): Promise<Product> => {
  const child = await startChild('apps/api/src/main.ts', {
    DATA_DIR: folder,
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'warn',
    ...environment,
  });
  const pool = new Pool(child.url, { connections: MOST_CALLERS });
  const { items } = (await ask(pool, { method: 'GET', path: `${CORE}/agents?limit=100` })) as {
    items: readonly { id: string }[];
  };
  const agents = items.map(({ id }) => id);
  for (let count = agents.length; count < MOST_CALLERS; count += 1)
    agents.push(
      (
        (await ask(pool, {
          method: 'POST',
          path: `${CORE}/agents`,
          body: { name: `Agent ${count}`, systemPrompt: 'You answer from the handbook. '.repeat(5) },
        })) as { id: string }
      ).id,
    );
  return { child, pool, agents };
};

const stop = async ({ child, pool }: Product): Promise<void> => {
  await pool.close();
  await child.stop();
};

/** So many ask again and again; resolves to the number of answers and the seconds it took. */
let turns = 0;
const load = async (
  { pool, agents }: Product,
  { request }: Kind,
  callers: number,
  seconds: number,
): Promise<{ readonly answers: number; readonly seconds: number }> => {
  const started = performance.now();
  let answers = 0;
  const call = async (caller: number): Promise<void> => {
    while (performance.now() - started < seconds * 1_000) {
      await ask(pool, request(agents, caller, (turns += 1)));
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  return { answers, seconds: (performance.now() - started) / 1_000 };
};

const settled = async (proxy: CountingProxy): Promise<void> => {
  for (let before: Calls | undefined; before === undefined || proxy.since(before).reads > 0;) {
    before = { ...proxy.calls };
    await pause(QUIET_MS);
  }
};

interface Counted {
  readonly reads: number;
  readonly appends: number;
}

const counted = async (product: Product, proxy: CountingProxy, kind: Kind, callers: number): Promise<Counted> => {
  await load(product, kind, callers, WARMING_SECONDS);
  await settled(proxy);
  const before = { ...proxy.calls };
  const { answers } = await load(product, kind, callers, SECONDS);
  await settled(proxy);
  const { reads, appends } = proxy.since(before);
  return { reads: reads / answers, appends: appends / answers };
};

interface Rated {
  readonly perSecond: number;
  /** Microseconds of processor time of the product for each. */
  readonly cpu: number;
}

const rated = async (product: Product, kind: Kind, callers: number): Promise<Rated> => {
  const before = cpuSeconds(product.child.pid);
  const { answers, seconds } = await load(product, kind, callers, SECONDS);
  return { perSecond: answers / seconds, cpu: ((cpuSeconds(product.child.pid) - before) * 1e6) / answers };
};

/** In turn, so that what else the machine does falls on both. */
const beside = async (
  server: Product,
  embedded: Product,
  kind: Kind,
  callers: number,
): Promise<{ readonly server: Rated; readonly embedded: Rated }> => {
  const rounds: { readonly server: Rated; readonly embedded: Rated }[] = [];
  for (const product of [server, embedded]) await load(product, kind, callers, WARMING_SECONDS);
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({ server: await rated(server, kind, callers), embedded: await rated(embedded, kind, callers) });
  const of = (which: 'server' | 'embedded', what: keyof Rated): number =>
    median(rounds.map((each) => each[which][what]));
  const ofBoth = (which: 'server' | 'embedded'): Rated => ({
    perSecond: of(which, 'perSecond'),
    cpu: of(which, 'cpu'),
  });
  return { server: ofBoth('server'), embedded: ofBoth('embedded') };
};

/** What a connection string says, as the proxy needs it. */
const targetOf = (url: string): Target => {
  const { host, username, password, searchParams } = new URL(url.replace(/^\w+(\+discover)?:/, 'http:'));
  const parameters = new Map([...searchParams].map(([name, value]) => [name.toLowerCase(), value]));
  const isTls = parameters.get('tls') !== 'false';
  const file = parameters.get('tlscafile');
  return {
    origin: `${isTls ? 'https' : 'http'}://${host}`,
    ...(file === undefined ? {} : { ca: readFileSync(file, 'utf8') }),
    ...(username === ''
      ? {}
      : {
          authorization: `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`,
        }),
  };
};

const assertEmpty = async (url: string): Promise<void> => {
  const log = await openEventStoreLogReader({ url });
  const head = await log.head();
  await log.close();
  if (head !== null) throw new Error('the log of EMPTY_EVENTSTORE_URL is not empty: name a server that nobody uses');
};

const main = async (): Promise<void> => {
  const given = process.env['EMPTY_EVENTSTORE_URL'];
  if (given !== undefined) await assertEmpty(given);
  const double = given === undefined ? await startDouble() : undefined;
  const url = given ?? (double?.url as string);
  const proxy = await CountingProxy.start(targetOf(url));
  const [folder, ofEmbedded] = [
    mkdtempSync(join(tmpdir(), 'round-trips-')),
    mkdtempSync(join(tmpdir(), 'round-trips-')),
  ] as const;
  const kinds = KINDS.filter(({ name }) => name.startsWith(process.env['ONLY'] ?? ''));
  try {
    say(
      `on ${double === undefined ? 'the server of EMPTY_EVENTSTORE_URL' : 'the double'}: reads and appends of the server for each request, counted over ${SECONDS} s`,
    );
    await countRoundTrips(folder, proxy, kinds);
    say(
      `calls a second beside the embedded log, medians of ${ROUNDS} rounds of ${SECONDS} s; the callers${double === undefined ? '' : ', and the double,'} have processors of the product's machine`,
    );
    const server = await start(folder, { EVENTSTORE_URL: url });
    const embedded = await start(ofEmbedded, {});
    await compareRates(server, embedded, kinds, double?.child.pid);
    await stop(server);
    await stop(embedded);
  } finally {
    await proxy.stop();
    double?.child.kill();
    for (const each of [folder, ofEmbedded]) rmSync(each, { recursive: true, force: true });
  }
};

const countRoundTrips = async (folder: string, proxy: CountingProxy, kinds: readonly Kind[]): Promise<void> => {
  const throughProxy = await start(folder, { EVENTSTORE_URL: proxy.url });
  for (const kind of kinds) {
    for (const callers of [1, kind.many]) {
      const { reads, appends } = await counted(throughProxy, proxy, kind, callers);
      const target = callers > 1 ? ` (target ${kind.reads})` : kind.name.startsWith('GET') ? ' (target 1)' : '';
      say(
        `  ${kind.name.padEnd(20)} ${String(callers).padStart(2)} callers   reads ${reads.toFixed(2)}${target}   appends ${appends.toFixed(2)}`,
      );
    }
  }
  await settled(proxy);
  const idle = { ...proxy.calls };
  await pause(IDLE_SECONDS * 1_000);
  const { reads, subscriptions } = proxy.since(idle);
  say(
    `  nothing for ${IDLE_SECONDS} s: ${reads} reads (target ${IDLE_SECONDS / 15}), ${subscriptions} new subscriptions (target 0)`,
  );
  await stop(throughProxy);
};

/** `doublePid`: the process of the double, where there is one. */
const compareRates = async (
  server: Product,
  embedded: Product,
  kinds: readonly Kind[],
  doublePid: number | undefined,
): Promise<void> => {
  for (const kind of kinds) {
    for (const callers of [1, kind.many]) {
      const before = doublePid === undefined ? 0 : cpuSeconds(doublePid);
      const started = performance.now();
      const { server: ours, embedded: theirs } = await beside(server, embedded, kind, callers);
      const busy =
        doublePid === undefined
          ? ''
          : `, the double's processor ${Math.round(((cpuSeconds(doublePid) - before) * 2e5) / (performance.now() - started))} % busy`;
      const target = callers > 1 && kind.ratio !== undefined ? ` (target ${kind.ratio.toFixed(2)})` : '';
      say(
        `  ${kind.name.padEnd(20)} ${String(callers).padStart(2)} callers   ${Math.round(ours.perSecond)}/s, embedded ${Math.round(theirs.perSecond)}/s, ratio ${(ours.perSecond / theirs.perSecond).toFixed(2)}${target}   processor time of the product ${ours.cpu.toFixed(0)} and ${theirs.cpu.toFixed(0)} us${busy}`,
      );
    }
  }
};

void main();

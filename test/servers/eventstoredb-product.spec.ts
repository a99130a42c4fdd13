import { openEventStoreLogReader } from '@app/event-log';
import { verifyLog } from '@app/sealing';
import type { Ask } from '../e2e/asking';
import { startTestPlatform } from '../e2e/harness';
import { race, races } from '../e2e/races';
import { until } from '../fixtures/until';
import { missingForCluster, startCluster } from './cluster';
import { type EmptyLog, emptyLogName, isEmptyLogGiven, openEmptyLog } from './empty-log';
import { startEventStoreDouble } from './eventstoredb/double';
import { expectAnswer, mainJob } from './main-job';

/** The product on EventStoreDB: on the server of `EMPTY_EVENTSTORE_URL`, which nobody must have used, else on doubles. */

const PAIRS = 500;
/** In two processes on doubles of the other servers too, where a request costs many times as much. */
const PAIRS_IN_TWO = 50;
const LONG = 1_200_000;

interface Product {
  /** Two API processes, or one twice. */
  readonly asks: readonly [Ask, Ask];
  /** Stops it and starts it again over what it kept. */
  restart(): Promise<readonly [Ask, Ask]>;
  stop(): Promise<void>;
}

/** One process, with its other stores embedded. */
const alone = async (url: string): Promise<Product> => {
  const environment = { EVENTSTORE_URL: url };
  let platform = await startTestPlatform({ environment });
  const ask: Ask = ({ path, ...call }) => platform.call(path, call);
  return {
    asks: [ask, ask],
    restart: async () => {
      await platform.stop({ keep: true });
      platform = await startTestPlatform({ environment, dataDir: platform.dataDir });
      return [ask, ask];
    },
    stop: () => platform.stop(),
  };
};

/** Two API processes, with the other stores on servers. */
const shared = async (url: string): Promise<Product> => {
  const cluster = await startCluster(undefined, {}, url);
  const start = async (): Promise<[Ask, Ask]> => {
    const [first, second, ...others] = await Promise.all([
      cluster.start('api'),
      cluster.start('api'),
      cluster.start('projector'),
      cluster.start('worker'),
    ]);
    running.push(first, second, ...others);
    return [
      ({ path, ...call }) => cluster.call(first, path, { ...call, isKeyless: true }),
      ({ path, ...call }) => cluster.call(second, path, { ...call, isKeyless: true }),
    ];
  };
  const running: Awaited<ReturnType<typeof cluster.start>>[] = [];
  return {
    asks: await start(),
    restart: async () => {
      await Promise.all(running.splice(0).map((child) => child.stop()));
      return start();
    },
    stop: () => cluster.destroy(),
  };
};

interface Setting {
  readonly name: string;
  readonly start: (url: string) => Promise<Product>;
  readonly pairs: number;
}

const inOne = (pairs: number): Setting => ({ name: 'one API process', start: alone, pairs });
const inTwo = (pairs: number): Setting => ({ name: 'two API processes', start: shared, pairs });

const missing = missingForCluster();
const given = process.env['PAIRS'] === undefined ? undefined : Number(process.env['PAIRS']);
/** A server that must be empty serves one of them. */
const onGiven = missing === undefined ? [inTwo(given ?? PAIRS)] : [inOne(given ?? PAIRS)];
const onDoubles = [inOne(given ?? PAIRS), ...(missing === undefined ? [inTwo(given ?? PAIRS_IN_TWO)] : [])];

if (missing !== undefined) it.todo(`two API processes: ${missing}`);

describe.each(isEmptyLogGiven ? onGiven : onDoubles)(`$name on ${emptyLogName}`, ({ start, pairs }) => {
  let log: EmptyLog;
  let product: Product;
  let agentId: string;
  beforeAll(async () => {
    log = await openEmptyLog();
    product = await start(log.url);
  }, LONG);
  afterAll(async () => {
    await product?.stop();
    await log?.stop();
  }, LONG);

  it('do the main job', async () => void (agentId = await mainJob(product.asks[0])), LONG);

  it.each(races)(`let one of two have it, ${pairs} times: $name`, (wanted) => race(wanted, product.asks, pairs), LONG);

  it(
    `reject a key at the next request, ${pairs} times, wherever it was revoked`,
    async () => {
      const refused = new Map<number, number>();
      const revoke = async (round: number): Promise<void> => {
        const [by, at] = round % 2 === 0 ? product.asks : (product.asks.toReversed() as [Ask, Ask]);
        const {
          body: { id, secret },
        } = await by<{ id: string; secret: string }>({
          path: '/api/v1/core/api-keys',
          method: 'POST',
          body: { name: `Key ${round}`, agentIds: [], permissions: ['spaces:read'] },
        });
        const read = async () =>
          (await at({ path: '/api/v1/core/spaces', method: 'GET', headers: { 'x-api-key': secret } })).status;
        expect(await read()).toBe(200);
        expect((await by({ path: `/api/v1/core/api-keys/${id}`, method: 'DELETE' })).status).toBe(204);
        const status = await read();
        refused.set(status, (refused.get(status) ?? 0) + 1);
      };
      for (let round = 0; round < pairs; round += 5)
        await Promise.all(Array.from({ length: Math.min(5, pairs - round) }, (_, part) => revoke(round + part)));
      expect([...refused]).toEqual([[401, pairs]]);
    },
    LONG,
  );

  it(
    'find all of it again at the next start, under seals that hold',
    async () => {
      const [first, second] = await product.restart();
      await Promise.all([expectAnswer(first, agentId), expectAnswer(second, agentId)]);
      const {
        body: { publicKey },
      } = await first<{ publicKey: string }>({ path: '/api/v1/audit/seals/key', method: 'GET' });
      const reader = await openEventStoreLogReader({ url: log.url });
      await until(
        async () => (await verifyLog(reader, { publicKeys: [publicKey] })).unsealed.events === 0,
        'seals over all',
      );
      expect(await verifyLog(reader, { publicKeys: [publicKey] })).toMatchObject({ ok: true, findings: [] });
      await reader.close();
    },
    LONG,
  );
});

it('a server that somebody has used is rejected', async () => {
  const used = await startEventStoreDouble();
  const product = await alone(used.url);
  await product.stop();
  await expect(openEmptyLog(used.url)).rejects.toThrow('Name one that nobody has used');
  await used.stop();
});

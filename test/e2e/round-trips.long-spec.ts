import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Calls, CountingProxy } from '../fixtures/counting-proxy';
import { type EventStoreDouble, noLag, startEventStoreDouble } from '../servers/eventstoredb/double';
import { type Child, startChild } from './child';

/** What the product asks of EventStoreDB, counted between the two. `test/load/round-trips.ts` prints more of it. */

const KEY = 'round-trips-key-0123456789-abcdefghijklmnop';
const CORE = '/api/v1/core';
const LONG = 120_000;
/** Nothing was asked for so long: all that a request set off is over. */
const QUIET_MS = 1_000;

describe('what is asked of EventStoreDB', () => {
  const folder = mkdtempSync(join(tmpdir(), 'round-trips-'));
  let server: EventStoreDouble;
  let proxy: CountingProxy;
  let product: Child;
  let agents: string[];
  beforeAll(async () => {
    server = await startEventStoreDouble({ lag: noLag });
    proxy = await CountingProxy.start({ origin: `http://127.0.0.1:${server.port}` });
    product = await startChild('apps/api/src/main.ts', {
      DATA_DIR: folder,
      PORT: '0',
      BOOTSTRAP_API_KEY: KEY,
      LOG_LEVEL: 'warn',
      EVENTSTORE_URL: proxy.url,
    });
    agents = [];
    for (let index = 0; index < 32; index += 1)
      agents.push((await call<{ id: string }>('POST', '/agents', { name: `Agent ${index}` })).id);
    for (const id of agents) await call('GET', `/agents/${id}`);
  }, LONG);
  afterAll(async () => {
    await product.stop();
    await proxy.stop();
    await server.stop();
    rmSync(folder, { recursive: true });
  }, LONG);

  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${product.url}${CORE}${path}`, {
      method,
      headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  };
  const settled = async (): Promise<void> => {
    for (let before = -1; before !== proxy.calls.reads;) {
      before = proxy.calls.reads;
      await pause(QUIET_MS);
    }
  };
  const asked = async (work: () => Promise<unknown>) => {
    await settled();
    const before = { ...proxy.calls };
    await work();
    return proxy.since(before);
  };
  /** Fails unless one of five rounds of the same work asks for so little. Something else may be read meanwhile: the head of the log after 15 s, what was sealed. */
  const expectRound = async (work: (round: number) => Promise<unknown>, isEnough: (calls: Calls) => boolean) => {
    const rounds: Calls[] = [];
    while (rounds.length < 5 && !rounds.some(isEnough)) rounds.push(await asked(() => work(rounds.length)));
    expect([rounds, rounds.some(isEnough)]).toEqual([rounds, true]);
  };
  const oneByOne = (work: (index: number) => Promise<unknown>) => async (): Promise<void> => {
    for (let index = 0; index < 10; index += 1) await work(index);
  };

  it(
    'is one read for a GET that comes alone, for authentication and authorisation together',
    () =>
      expectRound(
        oneByOne((index) => call('GET', `/agents/${agents[index]}`)),
        ({ reads, pages, appends, subscriptions }) =>
          reads === 10 && pages === 10 && appends === 0 && subscriptions === 0,
      ),
    LONG,
  );

  it(
    'is shared by those that come together',
    async () => {
      const { reads } = await asked(async () => {
        for (let round = 0; round < 5; round += 1) await Promise.all(agents.map((id) => call('GET', `/agents/${id}`)));
      });
      expect(reads).toBeLessThanOrEqual(0.2 * 5 * agents.length);
    },
    LONG,
  );

  it(
    'is asked once for a request with a body, too, and once for what it wrote',
    async () => {
      // The seal of what was written may come before the next is asked for.
      await expectRound(
        (round) =>
          oneByOne((index) => call('PUT', `/agents/${agents[index]}`, { description: `Change of round ${round}` }))(),
        ({ reads, appends }) => appends >= 10 && reads <= 2 * appends,
      );
      const many = await asked(() =>
        Promise.all(agents.map((id) => call('PUT', `/agents/${id}`, { description: 'Changed together' }))),
      );
      expect(many.reads).toBeLessThanOrEqual(agents.length);
    },
    LONG,
  );

  it(
    'is little for a Space',
    async () => {
      const { reads } = await asked(() =>
        Promise.all(
          Array.from({ length: 16 }, (_, index) =>
            call('POST', '/spaces', { name: `Space ${index}`, slug: `round-trips-${index}` }),
          ),
        ),
      );
      expect(reads).toBeLessThanOrEqual(6 * 16);
    },
    LONG,
  );

  it(
    'is one read in 15 s where nothing happens, over one subscription',
    async () => {
      // The last event of what was written is noted within five seconds.
      await pause(6_000);
      let took = 0;
      const { reads, subscriptions, appends } = await asked(async () => {
        const begun = performance.now();
        await pause(14_500);
        took = performance.now() - begun;
      });
      // Two, where the pause of a process that stood still was longer.
      expect(reads).toBeLessThanOrEqual(Math.ceil(took / 15_000));
      expect([subscriptions, appends, server.listeners()]).toEqual([0, 0, 1]);
    },
    LONG,
  );
});

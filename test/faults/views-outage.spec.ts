import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { until } from '../fixtures/until';
import { lasting, timed } from './mongo/mongo-counters';
import { isInstalled, MongoProcess } from './mongo/server-process';

/** Fault 23 as those see it who use the API: MongoDB is gone, and with it the views and the keys. */

const CORE = '/api/v1/core';
/** The deadlines of a read and of a write, and what a busy machine adds. */
const MOST_MS = 10_000;

const specs = (): void => {
  let mongo: MongoProcess;
  let platform: TestPlatform;
  let spaceId: string;

  beforeEach(async () => {
    mongo = await MongoProcess.start();
    platform = await startTestPlatform({ environment: { MONGODB_URL: mongo.url } });
    spaceId = (await post('Before')).body.id;
  });
  afterEach(async () => {
    await platform.stop();
    await mongo.remove();
  });

  const post = (name: string) =>
    platform.call<{ id: string }>(`${CORE}/spaces`, {
      method: 'POST',
      body: { name },
      headers: { 'idempotency-key': name },
    });
  const names = async (): Promise<readonly string[]> =>
    (await platform.call<{ items: readonly { name: string }[] }>(`${CORE}/spaces`)).body.items.map(({ name }) => name);

  it('requests answer 503 in time, health tells it, nothing is lost, and all is well afterwards', async () => {
    await mongo.kill();
    // What was read a moment ago is given again for 50 ms.
    await lasting(200);
    const requests = [
      () => platform.call(`${CORE}/spaces/${spaceId}`),
      () => platform.call(`${CORE}/spaces`),
      () => post('Meanwhile'),
    ];
    for (const request of requests) {
      const { milliseconds, outcome } = await timed(request);
      expect(outcome).toMatchObject({ status: 'fulfilled', value: { status: 503, headers: { 'retry-after': '1' } } });
      expect(milliseconds).toBeLessThan(MOST_MS);
    }
    expect(await platform.call('/health')).toMatchObject({
      status: 503,
      body: { status: 'down', dependencies: { log: { ok: true }, readStore: { ok: false }, vault: { ok: false } } },
    });

    await mongo.start();
    await until(async () => (await platform.call<{ status: string }>('/health')).body.status === 'up', 'health');
    // Whether it had happened or not: with its key it happens once.
    expect((await post('Meanwhile')).status).toBe(201);
    await until(async () => (await names()).includes('Meanwhile'), 'the view');
    expect((await names()).toSorted()).toEqual(['Before', 'Meanwhile', 'Personal']);
    expect(
      (await platform.call<{ items: readonly object[] }>('/api/v1/audit/events?type=SpaceCreated&limit=100')).body
        .items,
    ).toHaveLength(3);
  });
};

describe('while MongoDB is away', () =>
  isInstalled() ? specs() : it.todo('skipped: test/servers/mongodb.sh install was not run'));

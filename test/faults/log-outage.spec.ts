import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { until } from '../fixtures/until';
import { ServerProcess } from './eventstore/server-process';
import { GONE_MS, lasting, SLOW_MS, TimeLimit } from './eventstore/history';

/** Faults 19 and 22 as those see them who use the API: EventStoreDB is gone, or stands still. */

interface Health {
  readonly status: string;
  readonly dependencies: Readonly<Record<string, { readonly ok: boolean; readonly reason?: string }>>;
}
interface List {
  readonly items: readonly { readonly name: string }[];
}

const CORE = '/api/v1/core';

describe('while the log is away', () => {
  let server: ServerProcess;
  let platform: TestPlatform;
  let spaceId: string;
  let agentId: string;

  beforeEach(async () => {
    server = await ServerProcess.start();
    platform = await startTestPlatform({ environment: { EVENTSTORE_URL: server.url } });
    spaceId = (await post('/spaces', { name: 'Before' })).body.id;
    agentId = (await post('/agents', { spaceId, name: 'Guide' })).body.id;
    // What is in use: what nobody has looked at for minutes is rejected while the log is away.
    expect([(await agent()).status, (await agents()).status]).toEqual([200, 200]);
  });
  afterEach(async () => {
    await platform.stop();
    await server.remove();
  });

  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    platform.call<{ id: string; code: string }>(`${CORE}${path}`, { method: 'POST', body, headers });
  const agent = () => platform.call<{ name: string }>(`${CORE}/agents/${agentId}`);
  const agents = () => platform.call<List>(`${CORE}/agents?spaceId=${spaceId}`);
  const commands = () => [
    post('/spaces', { name: 'Meanwhile' }, { 'idempotency-key': 'meanwhile' }),
    post('/agents', { spaceId, name: 'Meanwhile' }),
    platform.call<{ code: string }>(`${CORE}/agents/${agentId}`, { method: 'PUT', body: { name: 'Meanwhile' } }),
    platform.call<{ code: string }>(`${CORE}/spaces/${spaceId}`, { method: 'DELETE' }),
  ];

  /** What nobody changes: it is read though the log does not answer. */
  const expectReads = async (): Promise<void> => {
    const [one, list, ready] = await Promise.all([agent(), agents(), platform.call('/health/ready', { key: null })]);
    expect([one.status, one.body.name, list.status, list.body.items.map(({ name }) => name), ready.status]).toEqual([
      200,
      'Guide',
      200,
      ['Guide'],
      200,
    ]);
  };
  const health = () => platform.call<Health>('/health');
  /** Work, and how long it took, milliseconds. */
  const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    const started = performance.now();
    return [await work(), performance.now() - started];
  };
  const expectRejected = async (milliseconds: number): Promise<void> => {
    const limit = new TimeLimit(milliseconds);
    const [answers, took] = await timed(() => Promise.all(commands()));
    expect(took).toBeLessThan(limit.most);
    expect(answers.map(({ status, headers, body }) => [status, headers['retry-after'], body.code])).toEqual(
      answers.map(() => [503, '1', 'unavailable']),
    );
  };
  /** The outcome of commands that a silent server took is not known: whoever repeats one with its key has it done once. */
  const expectWellAgain = async (): Promise<void> => {
    await until(async () => (await health()).body.status === 'up', 'health');
    expect((await post('/spaces', { name: 'Meanwhile' }, { 'idempotency-key': 'meanwhile' })).status).toBe(201);
    const spaces = await platform.call<List>(`${CORE}/spaces`);
    expect(spaces.body.items.filter(({ name }) => name === 'Meanwhile')).toHaveLength(1);
  };

  it('gone: commands answer 503 within two seconds and say when to come again, reads go on, health tells it, and all is well afterwards', async () => {
    await server.kill();
    for (let round = 0; round < 3; round += 1) await expectRejected(GONE_MS);
    await expectReads();
    expect(await health()).toMatchObject({
      status: 503,
      body: {
        status: 'down',
        dependencies: {
          log: { ok: false, reason: 'the server cannot be reached' },
          readStore: { ok: true },
          searchIndex: { ok: true },
        },
      },
    });

    await server.start();
    await expectWellAgain();
  });

  it('slow: commands wait and are done, reads go on after two seconds from what is known, and health tells it within two', async () => {
    const limits = { health: new TimeLimit(GONE_MS), reads: new TimeLimit(GONE_MS + 500), later: new TimeLimit(500) };
    server.pause();
    const changes = Promise.all([
      post('/spaces', { name: 'Meanwhile' }, { 'idempotency-key': 'meanwhile' }),
      post('/agents', { spaceId, name: 'Second' }),
      platform.call(`${CORE}/agents/${agentId}`, { method: 'PUT', body: { name: 'Renamed' } }),
    ]);
    const [[told, toldIn], [, readIn]] = await Promise.all([timed(health), timed(expectReads)]);
    const [, readAgainIn] = await timed(agent);
    await lasting(1_000);
    server.goOn();

    expect(told).toMatchObject({
      status: 200,
      body: {
        status: 'degraded',
        dependencies: { log: { ok: false, slow: true, reason: 'the server is slow: it has not answered for 1.5 s' } },
      },
    });
    expect(toldIn).toBeLessThan(limits.health.most);
    expect(readIn).toBeLessThan(limits.reads.most);
    expect(readAgainIn).toBeLessThan(limits.later.most);
    expect((await changes).map(({ status }) => status)).toEqual([201, 201, 200]);
    await expectWellAgain();
    expect((await agents()).body.items.map(({ name }) => name).toSorted()).toEqual(['Renamed', 'Second']);
  });

  it('silent: commands answer 503 within ten seconds in all, reads go on, and all is well afterwards', async () => {
    server.pause();
    for (let round = 0; round < 2; round += 1) await expectRejected(SLOW_MS);
    await expectReads();
    expect(await health()).toMatchObject({
      status: 503,
      body: { status: 'down', dependencies: { log: { ok: false, reason: expect.any(String) as string } } },
    });

    server.goOn();
    await expectWellAgain();
  });
});

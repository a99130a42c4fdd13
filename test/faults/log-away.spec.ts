import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { until } from '../fixtures/until';
import { ServerProcess } from './eventstore/server-process';
import { TimeLimit } from './eventstore/history';

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
    // What is in use: what nobody has looked at for minutes is refused while the log is away.
    expect([(await agent()).status, (await agents()).status]).toEqual([200, 200]);
  }, 60_000);
  afterEach(async () => {
    await platform.stop();
    await server.remove();
  }, 60_000);

  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) => platform.call<{ id: string; code: string }>(`${CORE}${path}`, { method: 'POST', body, headers });
  const agent = () => platform.call<{ name: string }>(`${CORE}/agents/${agentId}`);
  const agents = () => platform.call<List>(`${CORE}/agents?spaceId=${spaceId}`);
  const commands = () => [
    post('/spaces', { name: 'Meanwhile' }, { 'idempotency-key': 'meanwhile' }),
    post('/agents', { spaceId, name: 'Meanwhile' }),
    platform.call<{ code: string }>(`${CORE}/agents/${agentId}`, { method: 'PUT', body: { name: 'Meanwhile' } }),
    platform.call<{ code: string }>(`${CORE}/spaces/${spaceId}`, { method: 'DELETE' }),
  ];

  it.each([
    ['gone', () => server.kill(), () => server.start()],
    ['silent', async () => server.pause(), async () => server.goOn()],
  ])('%s: commands answer 503 in time and say when to come again, reads go on, health tells it, and all is well afterwards', async (_, goAway, comeBack) => {
    await goAway();
    for (let round = 0; round < 3; round += 1) {
      const limit = new TimeLimit();
      const started = performance.now();
      const answers = await Promise.all(commands());
      expect(performance.now() - started).toBeLessThan(limit.most);
      expect(answers.map(({ status, headers, body }) => [status, headers['retry-after'], body.code])).toEqual(answers.map(() => [503, '1', 'unavailable']));
    }
    const [one, list, health, ready] = await Promise.all([
      agent(),
      agents(),
      platform.call<Health>('/health'),
      platform.call('/health/ready', { key: null }),
    ]);
    expect([one.status, one.body.name, list.status, list.body.items.map(({ name }) => name)]).toEqual([200, 'Guide', 200, ['Guide']]);
    expect(health).toMatchObject({ status: 503, body: { status: 'down', dependencies: { log: { ok: false, reason: expect.any(String) as string }, readStore: { ok: true }, searchIndex: { ok: true } } } });
    expect(ready.status).toBe(200);

    await comeBack();
    await until(async () => (await platform.call<Health>('/health')).body.status === 'up', 'health');
    // The outcome of a silent server's commands is not known: whoever repeats one with its key has it done once.
    const repeated = await post('/spaces', { name: 'Meanwhile' }, { 'idempotency-key': 'meanwhile' });
    expect(repeated.status).toBe(201);
    const spaces = await platform.call<List>(`${CORE}/spaces`);
    expect(spaces.body.items.filter(({ name }) => name === 'Meanwhile')).toHaveLength(1);
  }, 60_000);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../fixtures/until';
import { type Answer, startTestPlatform, type TestPlatform } from './harness';

interface Projection {
  readonly name: string;
  readonly version: number;
  readonly state: string;
  readonly lagEvents: number;
  readonly rows: number;
  readonly rebuild?: {
    readonly version: number;
    readonly state: string;
    readonly verification?: { readonly equal: boolean };
  };
}

let platform: TestPlatform;
let operator: string;
let folder: string;
let modelsFile: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'models-'));
  modelsFile = join(folder, 'models.json');
  writeFileSync(modelsFile, '{}');
  platform = await startTestPlatform({ environment: { MODELS_FILE: modelsFile } });
  operator = (await platform.newCaller({ role: 'operator', permissions: ['operations'], allAgents: false })).key;
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

const ask = (path: string): Promise<Answer<Projection & { code?: string }>> =>
  platform.call(`/api/v1/operations/projections/${path}`, { key: operator });
const act = (path: string, body?: unknown): Promise<Answer<Projection & { code?: string }>> =>
  platform.call(`/api/v1/operations/projections/${path}`, {
    method: 'POST',
    key: operator,
    ...(body === undefined ? {} : { body }),
  });
const reached = (name: string, state: string) =>
  until(async () => (await ask(name)).body.rebuild?.state === state, `${name} ${state}`);
const recorded = async () =>
  (
    await platform.call<{ items: { type: string; data: { projection?: string } }[] }>(
      '/api/v1/audit/events?category=operations&limit=100&order=asc',
    )
  ).body.items.map(({ type, data }) => `${type} ${data.projection}`);

describe('the views, for operators', () => {
  it('are listed with version, state, lag and rows', async () => {
    let users: Projection | undefined;
    // What the start and its policies write goes on for a moment.
    await until(async () => {
      const { status, body } = await platform.call<{ items: Projection[] }>('/api/v1/operations/projections', {
        key: operator,
      });
      expect(status).toBe(200);
      users = body.items.find(({ name }) => name === 'users');
      return users?.lagEvents === 0;
    }, 'the end of the log');
    expect(users).toMatchObject({
      version: 1,
      lagEvents: 0,
      lagSeconds: 0,
      deadLetters: 0,
      rows: 2,
    });
  });

  it('are rebuilt beside the live version, verified, swapped, rolled back and retired; each request is an event', async () => {
    expect((await act('users/rebuild')).status).toBe(202);
    await reached('users', 'ready');
    expect((await ask('users')).body).toMatchObject({
      version: 1,
      rebuild: { version: 2, verification: { equal: true, rows: 2, liveRows: 2, differences: 0 } },
    });
    expect((await act('users/swap')).body).toMatchObject({ version: 2, rebuild: { state: 'swapped' } });
    expect((await platform.call<{ items: unknown[] }>('/api/v1/core/users')).body.items).toHaveLength(2);
    expect((await act('users/rollback')).body).toMatchObject({ version: 1, rebuild: { state: 'ready' } });
    expect((await act('users/swap')).body).toMatchObject({ version: 2 });
    const { body } = await act('users/retire');
    expect([body.version, body.rebuild]).toEqual([2, undefined]);
    const requests = ['Rebuild', 'Swap', 'Rollback', 'Swap', 'Retire'].map((action) => `View${action}Requested users`);
    await until(async () => (await recorded()).length >= requests.length);
    expect((await recorded()).filter((event) => event.endsWith(' users'))).toEqual(requests);
  });

  it('are swapped by themselves where asked to, once they are equal', async () => {
    await act('spaces/rebuild', { swap: true });
    await reached('spaces', 'swapped');
    expect((await ask('spaces')).body).toMatchObject({ version: 2, rebuild: { verification: { equal: true } } });
  });

  it('reject what the state of a rebuild does not allow', async () => {
    expect((await act('prompts/swap')).body).toMatchObject({ status: 409, code: 'no_rebuild' });
    await act('prompts/rebuild');
    expect((await act('prompts/rebuild')).body).toMatchObject({ status: 409, code: 'rebuild_exists' });
    await reached('prompts', 'ready');
    expect((await act('prompts/rebuild/pause')).body).toMatchObject({ status: 409, code: 'rebuild_not_ready' });
    expect((await act('prompts/rebuild/cancel')).body.rebuild).toBeUndefined();
  });

  it('are rejected where unknown, before anything is recorded', async () => {
    const before = await recorded();
    expect([
      (await ask('nothing')).status,
      (await act('nothing/rebuild')).status,
      (await act('nothing/swap')).status,
    ]).toEqual([404, 404, 404]);
    expect((await act('users/rebuild', { swap: 'yes' })).body).toMatchObject({ status: 400, code: 'invalid_body' });
    expect(await recorded()).toEqual(before);
  });
});

describe('who may operate', () => {
  it.each([
    ['GET', 'projections'],
    ['POST', 'projections/users/rebuild'],
    ['POST', 'projections/users/swap'],
    ['GET', 'dead-letters'],
    ['POST', 'dead-letters/1/discard'],
  ] as const)('%s %s is for operators alone', async (method, path) => {
    const member = await platform.newCaller();
    const auditor = await platform.newCaller({ role: 'auditor', permissions: ['audit:read'] });
    const statuses = [member.key, auditor.key, null].map(
      async (key) => (await platform.call(`/api/v1/operations/${path}`, { method, key })).status,
    );
    expect(await Promise.all(statuses)).toEqual([403, 403, 401]);
  });
});

describe('the model catalogue', () => {
  const reload = () => platform.call('/api/v1/operations/models/reload', { method: 'POST', key: operator });
  const model = (key: string) => ({ key, provider: 'far', kind: 'chat', pricing: 'free' });
  const write = (models: readonly object[]) =>
    writeFileSync(
      modelsFile,
      JSON.stringify({ providers: { far: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } }, models }),
    );

  it('is read again when asked for, and stays as it was when it is wrong', async () => {
    write([model('first'), model('second')]);
    expect((await reload()).body).toEqual({
      defaultModel: 'local-chat',
      models: expect.arrayContaining(['local-chat', 'first', 'second']) as unknown,
    });
    write([{ ...model('third'), pricing: undefined }]);
    expect((await reload()).body).toMatchObject({ status: 400, errors: [{ path: 'MODELS_FILE' }] });
    const agent = { name: 'Uses the second', model: 'second' };
    expect((await platform.call('/api/v1/core/agents', { method: 'POST', body: agent })).status).toBe(201);
    expect(
      (await platform.call('/api/v1/core/agents', { method: 'POST', body: { ...agent, model: 'third' } })).status,
    ).toBeGreaterThanOrEqual(400);
  });
});

describe('dead letters', () => {
  it('are none in a sound log, and unknown ones are not found', async () => {
    expect((await platform.call('/api/v1/operations/dead-letters', { key: operator })).body).toEqual({
      items: [],
      nextCursor: null,
    });
    const unknown = '/api/v1/operations/dead-letters/00000000-0000-7000-8000-000000000000';
    expect([
      (await platform.call(unknown, { key: operator })).status,
      (await platform.call(`${unknown}/retry`, { method: 'POST', key: operator })).status,
    ]).toEqual([404, 404]);
  });
});

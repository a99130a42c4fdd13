import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { ADMIN_KEY } from '../e2e/harness';
import { until } from '../fixtures/until';

/** kill -9 before each append of requests that take and give back names of Skills and installations, which nobody repeats. Names equal them then. */

const CORE = '/api/v1/core';
/** What nobody comes back to is given back within a minute. */
const PATIENCE = { patience: 60_000, every: 250 };

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const dataDir = mkdtempSync(join(tmpdir(), 'skills-kill-'));
let product: Child;
let names = 0;
const start = async () => (product = await startChild('test/faults/processes/dying-child.ts', { DATA_DIR: dataDir }));
beforeAll(start, 60_000);
afterAll(async () => {
  await product.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const send = async (method: string, path: string, body?: object, headers: object = {}): Promise<Answer> => {
  const response = await fetch(`${product.url}${CORE}${path}`, {
    method,
    headers: { ...headers, 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
};
const name = (): string => `skill-${(names += 1)}`;
const content = { description: 'Starts the machine.', instructions: 'Turn the key.' };
const add = async (spaceId: string, called: string): Promise<Answer> =>
  send('POST', '/skills', { scope: 'space', spaceId, name: called, ...content });
const space = async (): Promise<string> => String((await send('POST', '/spaces', { name: name() })).body['id']);
/** `releases`: the append gives back a name, which a policy may have done before it. Then the request ends, and the process is killed behind it. */
const killed = async (n: number, method: string, path: string, body?: object, releases = false): Promise<void> => {
  const asked = send(method, path, body, { 'x-request-id': `dying-${n}` });
  if (releases) {
    const outcome = await asked.then(
      ({ status }) => (status < 300 ? 'done' : status),
      ({ message }: Error) => message,
    );
    expect(['done', 'fetch failed']).toContain(outcome);
    product.kill('SIGKILL');
  } else await expect(asked).rejects.toThrow('fetch failed');
  await product.exited;
  await start();
};
const listed = async (spaceId: string): Promise<readonly unknown[]> =>
  ((await send('GET', `/skills?spaceId=${spaceId}`)).body['items'] as { name: string }[]).map((skill) => skill.name);

it.each([1, 2])('a Skill whose process is killed before append %i of its creation holds no name', async (n) => {
  const [spaceId, wanted] = [await space(), name()];
  await killed(n, 'POST', '/skills', { scope: 'space', spaceId, name: wanted, ...content });
  expect(await listed(spaceId)).toEqual([]);
  await until(async () => (await add(spaceId, wanted)).status === 201, 'its name', PATIENCE);
  expect(await listed(spaceId)).toEqual([wanted]);
});

it.each([1, 2, 3])(
  'a Skill whose process is killed before append %i of a rename has one name, and the other is free',
  async (n) => {
    const [spaceId, before, after] = [await space(), name(), name()];
    const skillId = String((await add(spaceId, before)).body['id']);
    await killed(n, 'PUT', `/skills/${skillId}`, { name: after }, n === 3);
    const [held, free] = n === 3 ? [after, before] : [before, after];
    expect((await send('GET', `/skills/${skillId}`)).body['name']).toBe(held);
    const other = String((await add(spaceId, name())).body['id']);
    await until(
      async () => (await send('PUT', `/skills/${other}`, { name: free })).status === 200,
      'the other name',
      PATIENCE,
    );
    expect((await send('PUT', `/skills/${other}`, { name: held })).body).toMatchObject({ code: 'name_taken' });
  },
);

it.each([1, 2])(
  'a Skill whose process is killed before append %i of its deletion is there with its name, or both are gone',
  async (n) => {
    const [spaceId, called] = [await space(), name()];
    const skillId = String((await add(spaceId, called)).body['id']);
    await killed(n, 'DELETE', `/skills/${skillId}`, undefined, n === 2);
    expect((await send('GET', `/skills/${skillId}`)).status).toBe(n === 1 ? 200 : 404);
    if (n === 1) expect((await add(spaceId, called)).body).toMatchObject({ code: 'name_taken' });
    else await until(async () => (await add(spaceId, called)).status === 201, 'its name', PATIENCE);
  },
);

const MARKET = '/marketplace/skills';
/** A Skill that is published in a Space of its own. */
const published = async (): Promise<string> => {
  const body = { scope: 'space', spaceId: await space(), name: name(), ...content, publish: true };
  return String((await send('POST', '/skills', body)).body['id']);
};
const list = async (skillId: string): Promise<Answer> => send('POST', MARKET, { skillId });
const entry = async (): Promise<{ readonly entryId: string; readonly called: string }> => {
  const { body } = await list(await published());
  return { entryId: String(body['id']), called: String(body['name']) };
};
const install = async (entryId: string, spaceId: string): Promise<Answer> =>
  send('POST', `${MARKET}/${entryId}/installations`, { scope: 'space', spaceId });
const statusOf = async (called: string): Promise<readonly unknown[]> =>
  (
    await Promise.all(['published', 'archived'].map((status) => send('GET', `${MARKET}?status=${status}&q=${called}`)))
  ).flatMap(({ body }) => (body['items'] as { status: string }[]).map(({ status }) => status));

it('a listing, an archiving and a restoring whose process is killed before their append are not done, and can be', async () => {
  const skillId = await published();
  const called = String((await send('GET', `/skills/${skillId}`)).body['name']);
  await killed(1, 'POST', MARKET, { skillId });
  expect(await statusOf(called)).toEqual([]);
  const { status, body } = await list(skillId);
  expect([status, body['name']]).toEqual([201, called]);
  const path = `${MARKET}/${String(body['id'])}`;
  await killed(1, 'DELETE', path);
  expect(await statusOf(called)).toEqual(['published']);
  expect((await send('DELETE', path)).status).toBe(204);
  await killed(1, 'POST', `${path}/restore`);
  expect(await statusOf(called)).toEqual(['archived']);
  expect((await send('POST', `${path}/restore`)).status).toBe(200);
  expect(await statusOf(called)).toEqual(['published']);
});

it('a next version whose process is killed before its append is not listed, and what is installed goes on', async () => {
  const skillId = await published();
  const entryId = String((await list(skillId)).body['id']);
  const spaceId = await space();
  expect((await install(entryId, spaceId)).status).toBe(201);
  const live = async () => (await send('GET', `/skills?spaceId=${spaceId}`)).body['items'] as Answer['body'][];
  const before = await live();
  await send('PUT', `/skills/${skillId}`, { instructions: 'Turn it twice.' });
  await send('POST', `/skills/${skillId}/publish`);
  await killed(1, 'POST', MARKET, { skillId });
  expect(await live()).toEqual(before);
  expect((await list(skillId)).status).toBe(201);
  expect((await live())[0]?.['activeVersionId']).not.toBe(before[0]?.['activeVersionId']);
});

it.each([1, 2])(
  'an entry whose process is killed before append %i of its installation holds no name in the place',
  async (n) => {
    const [{ entryId, called }, spaceId] = [await entry(), await space()];
    await killed(n, 'POST', `${MARKET}/${entryId}/installations`, { scope: 'space', spaceId });
    expect(await listed(spaceId)).toEqual([]);
    await until(async () => (await install(entryId, spaceId)).status === 201, 'its name', PATIENCE);
    expect(await listed(spaceId)).toEqual([called]);
    expect((await install(entryId, spaceId)).body).toMatchObject({ code: 'name_taken' });
    expect((await add(spaceId, called)).body).toMatchObject({ code: 'name_taken' });
  },
);

it.each([1, 2])(
  'an installation whose process is killed before append %i of its end is there with its name, or both are gone',
  async (n) => {
    const [{ entryId, called }, spaceId] = [await entry(), await space()];
    const installationId = String((await install(entryId, spaceId)).body['id']);
    await killed(n, 'DELETE', `${MARKET}/${entryId}/installations/${installationId}`, undefined, n === 2);
    expect(await listed(spaceId)).toEqual(n === 1 ? [called] : []);
    if (n === 1) expect((await install(entryId, spaceId)).body).toMatchObject({ code: 'name_taken' });
    else await until(async () => (await install(entryId, spaceId)).status === 201, 'its name', PATIENCE);
  },
);

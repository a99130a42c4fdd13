import { ADMIN_KEY } from '../e2e/harness';
import { until } from '../fixtures/until';
import { dyingProduct } from './processes/dying-product';
import { type Doomed, killedAmid } from './processes/killed-amid';

/** kill -9 before each append of requests that take and give back names of Skills and installations, which nobody repeats. Names equal them then. */

const CORE = '/api/v1/core';
/** What nobody comes back to is given back within a minute. */
const PATIENCE = { patience: 60_000, every: 250 };

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const product = dyingProduct('skills-kill');
let names = 0;

const send = async (method: string, path: string, body?: object, headers: object = {}): Promise<Answer> => {
  const response = await fetch(`${product.child.url}${CORE}${path}`, {
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
const listed = async (spaceId: string): Promise<readonly unknown[]> =>
  ((await send('GET', `/skills?spaceId=${spaceId}`)).body['items'] as { name: string }[]).map((skill) => skill.name);

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

/** What is there once the process was killed, and what comes of it. */
type Check = () => Promise<void>;
interface Case {
  readonly title: string;
  /** Prepares a request that is to be killed before its n-th append. `releases`: the append gives back a name, which a policy may have done before it. */
  readonly prepare: (
    dies: (n: number, method: string, path: string, body?: object, releases?: boolean) => void,
  ) => Promise<Check>;
}

const killing = (title: string, prepare: Case['prepare']): Case => ({ title, prepare });

const created = (n: number): Case =>
  killing(`a Skill whose process is killed before append ${n} of its creation holds no name`, async (dies) => {
    const [spaceId, wanted] = [await space(), name()];
    dies(n, 'POST', '/skills', { scope: 'space', spaceId, name: wanted, ...content });
    return async () => {
      expect(await listed(spaceId)).toEqual([]);
      await until(async () => (await add(spaceId, wanted)).status === 201, 'its name', PATIENCE);
      expect(await listed(spaceId)).toEqual([wanted]);
    };
  });

const renamed = (n: number): Case =>
  killing(
    `a Skill whose process is killed before append ${n} of a rename has one name, and the other is free`,
    async (dies) => {
      const [spaceId, before, after] = [await space(), name(), name()];
      const skillId = String((await add(spaceId, before)).body['id']);
      dies(n, 'PUT', `/skills/${skillId}`, { name: after }, n === 3);
      return async () => {
        const [held, free] = n === 3 ? [after, before] : [before, after];
        expect((await send('GET', `/skills/${skillId}`)).body['name']).toBe(held);
        const other = String((await add(spaceId, name())).body['id']);
        await until(
          async () => (await send('PUT', `/skills/${other}`, { name: free })).status === 200,
          'the other name',
          PATIENCE,
        );
        expect((await send('PUT', `/skills/${other}`, { name: held })).body).toMatchObject({ code: 'name_taken' });
      };
    },
  );

const deleted = (n: number): Case =>
  killing(
    `a Skill whose process is killed before append ${n} of its deletion is there with its name, or both are gone`,
    async (dies) => {
      const [spaceId, called] = [await space(), name()];
      const skillId = String((await add(spaceId, called)).body['id']);
      dies(n, 'DELETE', `/skills/${skillId}`, undefined, n === 2);
      return async () => {
        expect((await send('GET', `/skills/${skillId}`)).status).toBe(n === 1 ? 200 : 404);
        if (n === 1) expect((await add(spaceId, called)).body).toMatchObject({ code: 'name_taken' });
        else await until(async () => (await add(spaceId, called)).status === 201, 'its name', PATIENCE);
      };
    },
  );

const listing = killing('a listing whose process is killed before its append is not done, and can be', async (dies) => {
  const skillId = await published();
  const called = String((await send('GET', `/skills/${skillId}`)).body['name']);
  dies(1, 'POST', MARKET, { skillId });
  return async () => {
    expect(await statusOf(called)).toEqual([]);
    const { status, body } = await list(skillId);
    expect([status, body['name']]).toEqual([201, called]);
    expect(await statusOf(called)).toEqual(['published']);
  };
});

const archiving = killing(
  'an archiving whose process is killed before its append is not done, and can be',
  async (dies) => {
    const { entryId, called } = await entry();
    dies(1, 'DELETE', `${MARKET}/${entryId}`);
    return async () => {
      expect(await statusOf(called)).toEqual(['published']);
      expect((await send('DELETE', `${MARKET}/${entryId}`)).status).toBe(204);
      expect(await statusOf(called)).toEqual(['archived']);
    };
  },
);

const restoring = killing(
  'a restoring whose process is killed before its append is not done, and can be',
  async (dies) => {
    const { entryId, called } = await entry();
    expect((await send('DELETE', `${MARKET}/${entryId}`)).status).toBe(204);
    dies(1, 'POST', `${MARKET}/${entryId}/restore`);
    return async () => {
      expect(await statusOf(called)).toEqual(['archived']);
      expect((await send('POST', `${MARKET}/${entryId}/restore`)).status).toBe(200);
      expect(await statusOf(called)).toEqual(['published']);
    };
  },
);

const nextVersion = killing(
  'a next version whose process is killed before its append is not listed, and what is installed goes on',
  async (dies) => {
    const skillId = await published();
    const entryId = String((await list(skillId)).body['id']);
    const spaceId = await space();
    expect((await install(entryId, spaceId)).status).toBe(201);
    const live = async () => (await send('GET', `/skills?spaceId=${spaceId}`)).body['items'] as Answer['body'][];
    const before = await live();
    await send('PUT', `/skills/${skillId}`, { instructions: 'Turn it twice.' });
    await send('POST', `/skills/${skillId}/publish`);
    dies(1, 'POST', MARKET, { skillId });
    return async () => {
      expect(await live()).toEqual(before);
      expect((await list(skillId)).status).toBe(201);
      expect((await live())[0]?.['activeVersionId']).not.toBe(before[0]?.['activeVersionId']);
    };
  },
);

const installed = (n: number): Case =>
  killing(
    `an entry whose process is killed before append ${n} of its installation holds no name in the place`,
    async (dies) => {
      const [{ entryId, called }, spaceId] = [await entry(), await space()];
      dies(n, 'POST', `${MARKET}/${entryId}/installations`, { scope: 'space', spaceId });
      return async () => {
        expect(await listed(spaceId)).toEqual([]);
        await until(async () => (await install(entryId, spaceId)).status === 201, 'its name', PATIENCE);
        expect(await listed(spaceId)).toEqual([called]);
        expect((await install(entryId, spaceId)).body).toMatchObject({ code: 'name_taken' });
        expect((await add(spaceId, called)).body).toMatchObject({ code: 'name_taken' });
      };
    },
  );

const removed = (n: number): Case =>
  killing(
    `an installation whose process is killed before append ${n} of its end is there with its name, or both are gone`,
    async (dies) => {
      const [{ entryId, called }, spaceId] = [await entry(), await space()];
      const installationId = String((await install(entryId, spaceId)).body['id']);
      dies(n, 'DELETE', `${MARKET}/${entryId}/installations/${installationId}`, undefined, n === 2);
      return async () => {
        expect(await listed(spaceId)).toEqual(n === 1 ? [called] : []);
        if (n === 1) expect((await install(entryId, spaceId)).body).toMatchObject({ code: 'name_taken' });
        else await until(async () => (await install(entryId, spaceId)).status === 201, 'its name', PATIENCE);
      };
    },
  );

const cases: readonly Case[] = [
  ...[1, 2].map(created),
  ...[1, 2, 3].map(renamed),
  ...[1, 2].map(deleted),
  listing,
  archiving,
  restoring,
  nextVersion,
  ...[1, 2].map(installed),
  ...[1, 2].map(removed),
];
const checks: Check[] = [];
beforeAll(async () => {
  const doomed: Doomed[] = [];
  const dies: Parameters<Case['prepare']>[0] = (at, method, path, body, releases = false) =>
    void doomed.push({ at, raced: releases, send: async (id) => (await send(method, path, body, id)).status });
  for (const { prepare } of cases) checks.push(await prepare(dies));
  expect(doomed).toHaveLength(cases.length);
  await killedAmid(product.child, doomed);
  await product.start();
});

it.each(cases.map(({ title }, index) => ({ title, index })))('after a restart: $title', ({ index }) =>
  (checks[index] as Check)(),
);

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '@app/kernel';
import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { zipFile } from '../fixtures/files/office';
import { until } from '../fixtures/until';

/** Fault: what keeps the files of Skills is away. Requests answer 503, nothing is half done, and all is well afterwards. */

const SKILLS = '/api/v1/core/skills';
interface Skill {
  readonly id: string;
  readonly activeVersionId: string | null;
  readonly hasDraft: boolean;
  readonly revision: number;
}
const UNAVAILABLE = { status: 503, body: { code: 'unavailable' } };

let product: TestPlatform;
let spaceId: string;
beforeAll(async () => {
  product = await startTestPlatform();
  const { body } = await product.call<{ id: string }>('/api/v1/core/spaces', { method: 'POST', body: { name: 'A' } });
  spaceId = body.id;
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => product.stop());

const send = async (path: string, method: 'POST' | 'PUT', fields: Readonly<Record<string, string>>, file: Buffer) => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('file', new Blob([new Uint8Array(file)]), 'a.zip');
  const sent = new Response(form);
  return product.call<Skill>(`${SKILLS}${path}`, {
    method,
    payload: Buffer.from(await sent.arrayBuffer()),
    headers: { 'content-type': sent.headers.get('content-type') ?? '' },
  });
};
const archive = (name: string, word: string): Buffer =>
  zipFile({
    'SKILL.md': `---\nname: ${name}\ndescription: d\n---\n${word}\n`,
    ...Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}.md`, `${word} ${index}`])),
  });
const add = (name: string) => send('', 'POST', { scope: 'space', spaceId, publish: 'true' }, archive(name, 'First.'));
const post = (path: string, body?: object) =>
  product.call<Skill>(`${SKILLS}${path}`, { method: 'POST', ...(body === undefined ? {} : { body }) });
const read = async (id: string): Promise<Skill> => (await product.call<Skill>(`${SKILLS}/${id}`)).body;
const listed = async (): Promise<number> =>
  (await product.call<{ items: object[] }>(`${SKILLS}?spaceId=${spaceId}`)).body.items.length;
const bodies = async (): Promise<number> => (await product.platform.host.stores.blobs.list(null, 1_000)).length;
const blobs = () => product.platform.host.stores.blobs;
const gone = (): never => {
  throw new Unavailable('blobs', 'a test took it away');
};
/** The file of a save that is stored as the `n`th, from 1, cannot be. Answers how many were tried. */
const failingPut = (n: number): (() => number) => {
  const group = blobs().group.bind(blobs());
  let puts = 0;
  jest.spyOn(blobs(), 'group').mockImplementation(() => {
    const { put, durable } = group();
    return { put: (...given) => ((puts += 1) === n ? gone() : put(...given)), durable };
  });
  return () => puts;
};

it('a Skill of which one file cannot be stored is none: its name is free, and no file stays', async () => {
  const [before, count] = [await bodies(), await listed()];
  const puts = failingPut(4);
  expect(await add('half')).toMatchObject(UNAVAILABLE);
  expect(puts()).toBeGreaterThan(3);
  jest.restoreAllMocks();
  expect(await listed()).toBe(count);
  await until(async () => (await bodies()) === before, 'the end of its files');
  const again = await add('half');
  expect([again.status, again.body]).toMatchObject([201, { hasDraft: false }]);
  expect(await bodies()).toBe(before + 5);
});

it('a Skill whose files do not reach the disk together is none, and no file stays', async () => {
  const [before, count] = [await bodies(), await listed()];
  const group = blobs().group.bind(blobs());
  jest.spyOn(blobs(), 'group').mockImplementation(() => ({ put: group().put, durable: async () => gone() }));
  expect(await add('not-durable')).toMatchObject(UNAVAILABLE);
  jest.restoreAllMocks();
  expect([await bodies(), await listed()]).toEqual([before, count]);
  expect((await add('not-durable')).status).toBe(201);
});

it('a draft of which one file cannot be stored stays as it was', async () => {
  const { id } = (await add('drafted')).body;
  const [before, skill] = [await bodies(), await read(id)];
  failingPut(1);
  expect(await send(`/${id}/draft`, 'PUT', {}, archive('drafted', 'Second.'))).toMatchObject(UNAVAILABLE);
  jest.restoreAllMocks();
  expect(await read(id)).toEqual(skill);
  await until(async () => (await bodies()) === before, 'the end of its files');
});

it.each(['away', 'without its bodies'])(
  'what is live stays while the store is %s: nothing is published or made live that could not be searched',
  async (how) => {
    const name = how === 'away' ? 'stays' : 'stays-too';
    const { id, activeVersionId: first } = (await add(name)).body;
    expect((await send(`/${id}/draft`, 'PUT', {}, archive(name, 'Second.'))).status).toBe(200);
    expect((await post(`/${id}/publish`)).status).toBe(200);
    expect((await send(`/${id}/draft`, 'PUT', {}, archive(name, 'Third.'))).status).toBe(200);
    const before = await read(id);
    expect(before.activeVersionId).not.toBe(first);
    // Whoever reads bodies opens them first, or gets them whole.
    jest.spyOn(blobs(), 'get').mockImplementation(async () => (how === 'away' ? gone() : undefined));
    expect(await post(`/${id}/publish`)).toMatchObject(UNAVAILABLE);
    expect(await post(`/${id}/activate`, { versionId: first })).toMatchObject(UNAVAILABLE);
    expect(await read(id)).toEqual(before);
    jest.restoreAllMocks();
    expect((await post(`/${id}/activate`, { versionId: first })).body).toMatchObject({ activeVersionId: first });
    expect((await post(`/${id}/publish`)).body).toMatchObject({ hasDraft: false });
  },
);

it('a Skill that is deleted while the store is away is gone at once, and its files are when it is back', async () => {
  const before = await bodies();
  const { id } = (await add('deleted')).body;
  expect(await bodies()).toBe(before + 5);
  const remove = jest.spyOn(blobs(), 'remove').mockImplementation(gone);
  expect((await product.call(`${SKILLS}/${id}`, { method: 'DELETE' })).status).toBe(204);
  expect((await product.call(`${SKILLS}/${id}`)).status).toBe(404);
  await until(() => remove.mock.calls.length > 0, 'the erasure to try');
  expect(await bodies()).toBe(before + 5);
  jest.restoreAllMocks();
  await until(async () => (await bodies()) === before, 'the end of its files', { patience: 60_000 });
});

it.each(['gone', 'a file'])(
  'all that needs files is 503 while the folder of files is %s, and nothing is half done',
  async (how) => {
    const name = how === 'gone' ? 'without-folder' : 'with-a-file-for-it';
    const { id } = (await add(name)).body;
    const saved = (words: string) =>
      product.call<Skill>(`${SKILLS}/${id}/draft/files/more.md`, { method: 'PUT', payload: Buffer.from(words) });
    expect((await saved('More.')).status).toBe(200);
    const [before, skill, count] = [await bodies(), await read(id), await listed()];
    const folder = join(product.dataDir, 'blobs');
    const aside = `${folder}-aside`;
    renameSync(folder, aside);
    if (how === 'a file') writeFileSync(folder, '');
    const imported = () => send('/import', 'POST', { scope: 'space', spaceId }, archive(`${name}-imported`, 'First.'));
    try {
      expect(await saved('More still.')).toMatchObject(UNAVAILABLE);
      expect(await add(`${name}-new`)).toMatchObject(UNAVAILABLE);
      expect(await imported()).toMatchObject(UNAVAILABLE);
      expect(await post(`/${id}/publish`)).toMatchObject(UNAVAILABLE);
      for (const path of ['versions/draft/files/more.md', 'versions/draft/files/0.md', 'export'])
        expect([path, await product.call(`${SKILLS}/${id}/${path}`)]).toMatchObject([path, UNAVAILABLE]);
    } finally {
      rmSync(folder, { force: true });
      renameSync(aside, folder);
    }
    expect([await read(id), await listed()]).toEqual([skill, count]);
    await until(async () => (await bodies()) === before, 'the end of its files');
    expect((await post(`/${id}/publish`)).body).toMatchObject({ hasDraft: false });
    expect((await add(`${name}-new`)).status).toBe(201);
  },
);

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoadableSkills } from '@app/skills';
import { startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';
type Body = Readonly<Record<string, unknown>> & { readonly id: string };

let product: TestPlatform;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'default-skills-'));
  write('Add up every line.');
  product = await startTestPlatform({ environment: { DEFAULT_SKILLS_DIR: folder } });
});
afterAll(async () => {
  await product.stop();
  rmSync(folder, { recursive: true, force: true });
});

const write = (instructions: string): void => {
  mkdirSync(join(folder, 'bills', 'references'), { recursive: true });
  writeFileSync(
    join(folder, 'bills', 'SKILL.md'),
    `---\nname: check-bills\ndescription: Use it for bills.\n---\n\n${instructions}\n`,
  );
  writeFileSync(join(folder, 'bills', 'references', 'limits.md'), 'At most 500 euros.');
};
const call = (path: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE' = 'GET', body?: object) =>
  product.call<Body>(`${CORE}${path}`, { method, ...(body !== undefined && { body }) });
const made = async (path: string, body: object): Promise<string> => (await call(path, 'POST', body)).body.id;
const skillsOf = async (agentId: string) =>
  (await call(`/skills?agentId=${agentId}`)).body as unknown as { items: Body[]; skillSetHash: string };
const versionsOf = async (skillId: string) =>
  (await call(`/skills/${skillId}/versions`)).body['items'] as readonly Body[];

it('every Agent has the Skills of the folder, which nobody changes, unless it has one of that slug', async () => {
  const spaceId = await made('/spaces', { name: 'Defaults' });
  const agentId = await made('/agents', { spaceId, name: 'Guide' });
  const { items, skillSetHash } = await skillsOf(agentId);
  const skill = items[0] as Body;
  expect(skill).toMatchObject({
    slug: 'check-bills',
    source: 'DEFAULT',
    creatorType: 'PLATFORM',
    creatorId: null,
    availability: 'default',
  });
  expect((await call(`/skills?spaceId=${spaceId}`)).body['items']).toEqual([]);
  const version = { skillId: skill.id, versionId: String(skill['activeVersionId']) };
  const loadable = product.platform.app.get(LoadableSkills, { strict: false });
  expect(await loadable.load(version)).toMatchObject({ instructions: 'Add up every line.' });
  expect(await loadable.readFile(version, 'references/limits.md')).toBe('At most 500 euros.');

  for (const [path, method] of [
    [`/skills/${skill.id}`, 'PUT'],
    [`/skills/${skill.id}`, 'DELETE'],
    [`/marketplace/skills/${skill.id}`, 'DELETE'],
    [`/marketplace/skills/${skill.id}`, 'GET'],
  ] as const)
    expect((await call(path, method, method === 'PUT' ? { description: 'Mine.' } : undefined)).status).toBe(404);
  const install = { scope: 'space', spaceId };
  expect((await call(`/marketplace/skills/${skill.id}/installations`, 'POST', install)).status).toBe(404);
  expect((await call('/marketplace/skills')).body['items']).toEqual([]);

  const own = { name: 'Check bills', description: 'Ours.', instructions: 'Ask.', publish: true };
  const ownId = await made('/skills', { scope: 'space', spaceId, ...own });
  expect((await skillsOf(agentId)).items.map(({ id, availability }) => [id, availability])).toEqual([[ownId, 'space']]);
  await call(`/skills/${ownId}`, 'DELETE');
  expect(await skillsOf(agentId)).toMatchObject({ items: [{ id: skill.id }], skillSetHash });

  // The folder changes, and the process starts again.
  const { dataDir } = product;
  await product.stop({ keep: true });
  write('Add up every line twice.');
  product = await startTestPlatform({ dataDir, environment: { DEFAULT_SKILLS_DIR: folder } });
  // A product that takes requests has listed it.
  expect(await versionsOf(skill.id)).toHaveLength(2);
  const after = await skillsOf(agentId);
  expect(after.items).toMatchObject([{ id: skill.id }]);
  expect(after.skillSetHash).not.toBe(skillSetHash);
  // An answer that had the first names it still.
  expect(await product.platform.app.get(LoadableSkills, { strict: false }).load(version)).toMatchObject({
    instructions: 'Add up every line.',
  });
});

it('a Skill that is taken out of the folder is of no Agent any more, and one that is put in is of each', async () => {
  const spaceId = await made('/spaces', { name: 'Changing' });
  const agentId = await made('/agents', { spaceId, name: 'Guide' });
  const [bills] = (await skillsOf(agentId)).items;
  const { dataDir } = product;
  const again = async (change: () => void): Promise<void> => {
    await product.stop({ keep: true });
    change();
    product = await startTestPlatform({ dataDir, environment: { DEFAULT_SKILLS_DIR: folder } });
  };
  const slugs = async () => (await skillsOf(agentId)).items.map(({ slug }) => slug).toSorted();
  await again(() => {
    rmSync(join(folder, 'bills'), { recursive: true });
    mkdirSync(join(folder, 'mail'));
    writeFileSync(join(folder, 'mail', 'SKILL.md'), '---\nname: sort-mail\ndescription: Use it.\n---\n\nSort it.\n');
  });
  expect(await slugs()).toEqual(['sort-mail']);
  // Answers that had the first still say what it was.
  expect((await versionsOf(bills?.id ?? '')).length).toBeGreaterThan(0);
  await again(() => write('Add up every line twice.'));
  expect(await slugs()).toEqual(['check-bills', 'sort-mail']);
  // As it was: no version more.
  const live = (await skillsOf(agentId)).items.find(({ slug }) => slug === 'check-bills');
  expect(live).toMatchObject({ id: bills?.id, activeVersionId: bills?.['activeVersionId'] });
});

it('a folder that is wrong ends the start with the file and what is wrong with it, and changes nothing', async () => {
  const spaceId = await made('/spaces', { name: 'Wrong' });
  const agentId = await made('/agents', { spaceId, name: 'Guide' });
  const before = await skillsOf(agentId);
  const { dataDir } = product;
  await product.stop({ keep: true });
  const file = join(folder, 'mail', 'SKILL.md');
  const text = readFileSync(file);
  const start = () => startTestPlatform({ dataDir, environment: { DEFAULT_SKILLS_DIR: folder } });
  writeFileSync(file, '---\nname: sort-mail\n---\n\nSort it.\n');
  await expect(start()).rejects.toThrow(/^DEFAULT_SKILLS_DIR: .*mail\/SKILL\.md.*description/u);
  rmSync(file);
  await expect(start()).rejects.toThrow('DEFAULT_SKILLS_DIR: mail/SKILL.md cannot be read (ENOENT).');
  writeFileSync(file, text);
  product = await start();
  expect(await skillsOf(agentId)).toEqual(before);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup, restore } from '@app/backup';
import { systemClock } from '@app/kernel';
import { skillNamesDecider } from '@app/skills';
import { zipFile } from '../fixtures/files/office';
import { wordsUnder } from '../fixtures/files-under';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

/** What is deleted is erased within 10 s: rows of views, bodies, names and keys, with a receipt. */

const CORE = '/api/v1/core';
const VAULT_KEY = 'the vault key of a test of Skills, kept apart';
const environment = { VAULT_KEY, SEAL_KEY: 'the seal key of a test of Skills, kept apart too' };
const WITHIN = { patience: 10_000 };

type Body = Readonly<Record<string, unknown>> & { readonly id: string };

let product: TestPlatform;
let root: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'skills-erasure-'));
  product = await startTestPlatform({ environment });
});
afterAll(async () => {
  await product.stop();
  rmSync(root, { recursive: true, force: true });
});

const made = async (path: string, body: object, key?: string): Promise<string> => {
  const by = key === undefined ? {} : { key };
  const answer = await product.call<Body>(`${CORE}${path}`, { method: 'POST', body, ...by });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body.id;
};
const remove = (path: string, key?: string) =>
  product.call(`${CORE}${path}`, { method: 'DELETE', ...(key === undefined ? {} : { key }) });

/** A Skill of two versions whose name, texts, paths and files all have a word. */
const about = async (word: string, place: Readonly<Record<string, string>>, key?: string): Promise<Body> => {
  const skillFile = `---\nname: ${word}-care\ndescription: Use it for the ${word}.\nnote: ${word}\n---\n\nFeed the ${word}.\n`;
  const form = new FormData();
  for (const [field, value] of Object.entries({ ...place, publish: 'true' })) form.append(field, value);
  const files = zipFile({ 'SKILL.md': skillFile, [`notes/${word}.md`]: `The ${word} eats at nine.` });
  form.append('file', new Blob([new Uint8Array(files)]), `${word}.zip`);
  const sent = new Response(form);
  const answer = await product.call<Body>(`${CORE}/skills`, {
    method: 'POST',
    payload: Buffer.from(await sent.arrayBuffer()),
    headers: { 'content-type': sent.headers.get('content-type') ?? '' },
    ...(key === undefined ? {} : { key }),
  });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  const drafted = await product.call(`${CORE}/skills/${answer.body.id}`, {
    method: 'PUT',
    body: { instructions: `Let the ${word} sleep.` },
    ...(key === undefined ? {} : { key }),
  });
  expect(drafted.status).toBe(200);
  return answer.body;
};
const bodies = async (): Promise<number> => (await product.platform.host.stores.blobs.list(null, 1_000)).length;
const heldIn = async (spaceId: string): Promise<number> =>
  (await product.platform.host.stores.decisions.load(skillNamesDecider, spaceId)).state.size;
const onDisk = (word: string): boolean => wordsUnder(product.dataDir, [word]).length > 0;
const receipt = async (id: string, { call } = product): Promise<boolean> => {
  const { body } = await call<{ items: readonly { readonly data: { readonly stream: string } }[] }>(
    '/api/v1/audit/events?category=erasure&type=ContentErased&limit=100&order=desc',
  );
  return body.items.some(({ data }) => data.stream === `skill-${id}`);
};
/** All of a Skill is gone within the ten seconds that an erasure may take. */
const erased = async (word: string, { id }: Body, bodiesBefore: number): Promise<void> => {
  await until(() => receipt(id), 'the receipt', WITHIN);
  await until(() => !onDisk(word), 'the end of its words', WITHIN);
  await until(async () => (await bodies()) === bodiesBefore, 'the end of its bodies', WITHIN);
  for (const path of ['', '/versions', '/versions/draft', '/export'])
    expect((await product.call(`${CORE}/skills/${id}${path}`)).status).toBe(404);
};

describe('a Skill is erased with a receipt, and no file has a word of it', () => {
  it('when it is deleted, and its name is free', async () => {
    const spaceId = await made('/spaces', { name: 'Animals' });
    const before = await bodies();
    const skill = await about('quintavelle', { scope: 'space', spaceId });
    await until(() => onDisk('quintavelle'), 'its row');
    expect(await bodies()).toBeGreaterThan(before);
    expect((await remove(`/skills/${skill.id}`)).status).toBe(204);
    await erased('quintavelle', skill, before);
    const again = await about('quintavelle', { scope: 'space', spaceId });
    expect(again).toMatchObject({ name: 'quintavelle-care', slug: 'quintavelle-care' });
    expect(again.id).not.toBe(skill.id);
    expect(await heldIn(spaceId)).toBe(1);
  });

  it('when its Agent is deleted, and its name is free for the Space', async () => {
    const spaceId = await made('/spaces', { name: 'Of an Agent' });
    const agentId = await made('/agents', { spaceId, name: 'Guide' });
    const before = await bodies();
    const skill = await about('brandolith', { scope: 'agent', agentId });
    expect((await remove(`/agents/${agentId}`)).status).toBe(204);
    await erased('brandolith', skill, before);
    await until(async () => (await heldIn(spaceId)) === 0, 'its name', WITHIN);
    await about('brandolith', { scope: 'space', spaceId });
  });

  it('when its Space is deleted, with those of its Agents', async () => {
    const spaceId = await made('/spaces', { name: 'Brief' });
    const agentId = await made('/agents', { spaceId, name: 'Guide' });
    const before = await bodies();
    const ofSpace = await about('mirabolt', { scope: 'space', spaceId });
    const ofAgent = await about('fennimore', { scope: 'agent', agentId });
    expect((await remove(`/spaces/${spaceId}`)).status).toBe(204);
    await erased('mirabolt', ofSpace, before);
    await erased('fennimore', ofAgent, before);
    await until(async () => (await heldIn(spaceId)) === 0, 'their names', WITHIN);
  });

  it('when the user of its personal Space is deleted', async () => {
    const brief = await product.newCaller();
    const spaces = await product.call<{ items: { id: string; kind: string }[] }>(`${CORE}/spaces`, { key: brief.key });
    const spaceId = spaces.body.items.find(({ kind }) => kind === 'personal')?.id ?? '';
    const before = await bodies();
    const skill = await about('zanthoquill', { scope: 'space', spaceId }, brief.key);
    expect((await remove(`/users/${brief.userId}`)).status).toBe(204);
    await erased('zanthoquill', skill, before);
  });
});

describe('auditors', () => {
  it('see a Skill as of any time, and its texts with the permission for it', async () => {
    const auditor = await product.newCaller({ role: 'auditor', permissions: ['audit:read'] });
    const spaceId = await made('/spaces', { name: 'Audited' });
    const before = await bodies();
    const { id, ...skill } = await about('grumblewort', { scope: 'space', spaceId });
    await product.call(`${CORE}/skills/${id}`, { method: 'PUT', body: { name: 'Fizzlebush' } });
    const audited = `/api/v1/audit/objects/skill/${id}`;
    const now = (await product.call(`${CORE}/skills/${id}`)).body;
    expect((await product.call(audited)).body).toEqual(now);
    expect((await product.call(`${audited}?revision=0`)).body).toMatchObject({ name: 'grumblewort-care' });
    expect(now).toMatchObject({ name: 'Fizzlebush' });
    const hidden = await product.call(audited, { key: auditor.key });
    expect(hidden.body).toMatchObject({ id, name: { encrypted: true } });
    const history = await product.call(`${audited}/history`, { key: auditor.key });
    expect(history.status).toBe(200);
    for (const word of ['grumblewort', 'Fizzlebush']) expect(hidden.text + history.text).not.toContain(word);
    expect((await product.call(`${audited}/history`)).text).toContain('Use it for the grumblewort.');
    const events = `/api/v1/audit/events?stream=skill-${id}&content=true`;
    expect((await product.call(events)).text).toContain('Feed the grumblewort.');
    expect((await product.call(events, { key: auditor.key })).status).toBe(403);
    expect((await remove(`/skills/${id}`)).status).toBe(204);
    await erased('grumblewort', { id, ...skill }, before);
    expect((await product.call(`${audited}?revision=0`)).body).toMatchObject({ name: { erased: true } });
    for (const path of [`${audited}/history`, events])
      expect((await product.call(path)).text).not.toMatch(/grumblewort|fizzlebush/iu);
  });
});

describe('a deleted Skill is not shown again', () => {
  it('by a rebuild, nor by a backup of before that is restored', async () => {
    const spaceId = await made('/spaces', { name: 'Kept' });
    const skill = await about('pellandrine', { scope: 'space', spaceId });
    const kept = await about('ostrivane', { scope: 'space', spaceId });
    await until(() => onDisk('pellandrine'), 'its row');
    const [folder, keysFile] = [join(root, 'backup'), join(root, 'keys')];
    await backup({ dataFolder: product.dataDir, folder, keysFile, clock: systemClock });
    expect((await remove(`/skills/${skill.id}`)).status).toBe(204);
    await until(() => receipt(skill.id), 'the receipt', WITHIN);
    const rebuild = product.platform.host.projecting.rebuild('skills');
    await rebuild.start({ swap: true });
    await until(async () => (await rebuild.status())?.state === 'swapped', 'the rebuild');
    await rebuild.retire();
    await until(() => !onDisk('pellandrine'), 'the end of its words', WITHIN);
    const names = async ({ call } = product) =>
      (await call<{ items: { id: string }[] }>(`${CORE}/skills?spaceId=${spaceId}`)).body.items.map(({ id }) => id);
    expect(await names()).toEqual([kept.id]);

    await product.stop({ keep: true });
    for (const lost of ['log', 'views', 'search', 'blobs']) rmSync(join(product.dataDir, lost), { recursive: true });
    await restore({ folder, keysFile, vaultKey: VAULT_KEY, dataFolder: product.dataDir });
    product = await startTestPlatform({ environment, dataDir: product.dataDir });
    await until(() => receipt(skill.id), 'the receipt of the restored one');
    expect((await product.call(`${CORE}/skills/${skill.id}`)).status).toBe(404);
    expect(await names()).toEqual([kept.id]);
    await until(() => !onDisk('pellandrine'), 'the end of its words');
    const exported = await product.call(`${CORE}/skills/${kept.id}/export`);
    expect(exported.status).toBe(200);
    await until(async () => (await heldIn(spaceId)) === 1, 'its name');
    await about('pellandrine', { scope: 'space', spaceId });
  });
});

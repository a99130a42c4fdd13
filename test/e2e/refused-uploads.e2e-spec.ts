import { categoryOf } from '@app/kernel';
import { type Vault, VAULT } from '@app/vault';
import { zipFile } from '../fixtures/files/office';
import { startTestPlatform, type TestPlatform } from './harness';

const BOUNDARY = 'refused';
const SKILL = '---\nname: Refunds\ndescription: Handles refunds.\n---\n\nRead limits.md first.\n';

describe('an upload that is refused when something of it is stored', () => {
  let platform: TestPlatform;
  let spaceId: string;
  let agentId: string;
  beforeAll(async () => {
    platform = await startTestPlatform();
    const made = async (path: string, body: object) =>
      (await platform.call<{ id: string }>(`/api/v1/core/${path}`, { method: 'POST', body })).body.id;
    spaceId = await made('spaces', { name: 'Refunds' });
    agentId = await made('agents', { spaceId, name: 'Guide' });
  });
  afterAll(() => platform.stop());

  const upload = (path: string, ...parts: readonly (readonly [disposition: string, content: string | Buffer])[]) =>
    platform.call<{ results?: { ok: boolean; code?: string }[]; code?: string; id?: string }>(`/api/v1/core/${path}`, {
      method: 'POST',
      payload: Buffer.concat([
        ...parts.flatMap(([disposition, content]) => [
          Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`),
          Buffer.from(content),
          Buffer.from('\r\n'),
        ]),
        Buffer.from(`--${BOUNDARY}--\r\n`),
      ]),
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    });
  const inSpace = () => [['name="scope"', 'space'] as const, [`name="spaceId"`, spaceId] as const];
  const skillFile = (files: Readonly<Record<string, string>>) =>
    ['name="file"; filename="a.zip"', zipFile({ ...files, 'limits.md': 'The limit is 500 euros.' })] as const;
  /** Kinds of what has a key in the Space. */
  const keysOf = async (kind: string): Promise<number> =>
    (await platform.platform.app.get<Vault>(VAULT).streams({ spaceId })).filter((stream) => categoryOf(stream) === kind)
      .length;

  it('leaves no key of a Skill behind, and a Skill that is there keeps its own', async () => {
    expect((await upload('skills', ...inSpace(), skillFile({ 'SKILL.md': SKILL }))).status).toBe(201);
    expect(await keysOf('skill')).toBe(1);

    const taken = await upload('skills', ...inSpace(), skillFile({ 'SKILL.md': SKILL }));
    const wrong = await upload('skills', ...inSpace(), skillFile({ 'SKILL.md': SKILL.replace('name: ', 'name: {') }));
    const { body: imported } = await upload(
      'skills/import',
      ...inSpace(),
      skillFile({ 'a/SKILL.md': SKILL, 'a/b.md': 'B' }),
    );

    expect([taken.body.code, wrong.status]).toEqual(['name_taken', 400]);
    expect(imported.results).toMatchObject([{ ok: false, code: 'name_taken' }]);
    expect(await keysOf('skill')).toBe(1);
  });

  it('leaves no key of a document behind', async () => {
    const file = ['name="file"; filename="a.md"', '# A guide'] as const;
    const path = `knowledge/${agentId}/documents`;

    expect((await upload(path, file, ['name="scope"', 'agent'])).status).toBe(400);
    expect(await keysOf('document')).toBe(0);

    expect((await upload(path, file)).status).toBe(202);
    expect(await keysOf('document')).toBe(1);
  });
});

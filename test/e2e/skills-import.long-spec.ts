import { zipFile } from '../fixtures/files/office';
import { forgedZip } from '../fixtures/files/forged-zip';
import { zipFiles } from '../fixtures/zip-files';
import { alice, bob, create, mallory, platform, setMember, withSpaces } from './spaces-world';

withSpaces();

const SKILLS = '/api/v1/core/skills';
type Body = Readonly<Record<string, unknown>> & { readonly id: string };

const text = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: Checks invoices.\n${more}---\n\nLook at the sum.\n`;

/** Sends a file as multipart, its fields before it. */
const upload = async (
  path: string,
  file: string | Buffer,
  fields: Readonly<Record<string, string>> = {},
  {
    method = 'POST',
    name = 'skill.zip',
    key = alice.key,
  }: { method?: 'POST' | 'PUT'; name?: string; key?: string } = {},
) => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append('file', new Blob([typeof file === 'string' ? file : new Uint8Array(file)]), name);
  const encoded = new Response(form);
  const { status, body } = await platform.call<Body>(`${SKILLS}${path}`, {
    method,
    key,
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    payload: Buffer.from(await encoded.arrayBuffer()),
  });
  return { status, body };
};
const get = (path: string, key = alice.key) => platform.call<Body>(`${SKILLS}${path}`, { key });
const bytesOf = async (path: string) => {
  const { headers, rawPayload: bytes } = await platform.platform.app.inject({
    url: `${SKILLS}${path}`,
    headers: { 'x-api-key': alice.key },
  });
  return { headers, bytes };
};
const rename = (id: string, name: string) =>
  platform.call<Body>(`${SKILLS}/${id}`, { method: 'PUT', key: alice.key, body: { name } });
const inSpace = async (name: string) => ({ scope: 'space', spaceId: (await create(name)).body.id });
const faultOf = ({ status, body }: { status: number; body: Body }) => [status, body['code'], body['detail']];
const names = async (spaceId: string) =>
  ((await get(`?spaceId=${spaceId}`)).body['items'] as readonly Body[]).map(({ slug }) => slug).toSorted();

describe('a Skill from a file', () => {
  it.each([
    ['a SKILL.md', 'check.md', Buffer.from(text('invoice-check'))],
    ['a zip', 'check.zip', zipFile({ 'SKILL.md': text('invoice-check'), 'notes/größe.md': 'G' })],
    ['a .skill with a folder', 'check.skill', zipFile({ 'check/SKILL.md': text('invoice-check'), 'check/a.md': 'A' })],
  ])('is created from %s, and published at once if that is asked', async (title, name, file) => {
    const place = await inSpace(title);
    const { status, body } = await upload('', file, { ...place, publish: 'true' }, { name });
    expect([status, body]).toMatchObject([
      201,
      { name: 'invoice-check', slug: 'invoice-check', status: 'published', provider: 'upload', warnings: [] },
    ]);
    const version = await get(`/${body.id}/versions/${String(body['activeVersionId'])}`);
    expect(version.body).toMatchObject({ description: 'Checks invoices.', instructions: 'Look at the sum.' });
    expect(version.body['files']).toHaveLength(name.endsWith('.md') ? 0 : 1);
  });

  it('is taken as it was meant, with warnings', async () => {
    const sent = `\ufeff${text('Invoice check: 2', 'version: 1.0\n')}`.replaceAll('\n', '\r\n');
    const { body } = await upload('', sent, await inSpace('Lenient'), { name: 'SKILL.md' });
    expect(body).toMatchObject({ name: 'Invoice check: 2', slug: 'invoice-check-2', status: 'draft' });
    expect((body['warnings'] as readonly { code: string }[]).map(({ code }) => code)).toEqual([
      'byte_order_mark',
      'line_ends',
      'unquoted_colon',
      'name_outside_grammar',
      'unknown_key',
    ]);
    expect((await get(`/${body.id}/versions/draft`)).body).toMatchObject({ frontmatter: { version: '1.0' } });
  });

  it('says what is wrong, and leaves nothing', async () => {
    const place = await inSpace('Wrong');
    const sent = (file: string | Buffer, name = 'a.zip', fields: Record<string, string> = place) =>
      upload('', file, fields, { name });
    expect(faultOf(await sent('---js\n---\n', 'a.md'))).toEqual([
      400,
      'invalid_frontmatter',
      expect.stringMatching(/^a.md: Line 1: /),
    ]);
    expect(faultOf(await sent(zipFile({ 'x/SKILL.md': text('a', 'license: a\nlicense: b\n') })))).toEqual([
      400,
      'invalid_frontmatter',
      expect.stringMatching(/^x\/SKILL.md: Line 5, license: /),
    ]);
    expect(faultOf(await sent(forgedZip([{ name: '../SKILL.md', body: text('a') }])))).toEqual([
      400,
      'invalid_archive',
      expect.stringMatching(/^\.\.\/SKILL.md: /),
    ]);
    expect(faultOf(await sent(forgedZip(Array.from({ length: 11_000 }, (_, i) => ({ name: `${i}` })))))).toEqual([
      413,
      'too_large',
      expect.any(String),
    ]);
    expect(faultOf(await sent(text('a'), 'a.txt'))).toEqual([400, 'invalid_archive', expect.any(String)]);
    expect(faultOf(await sent(text('a'), 'a.md', { scope: 'space' }))).toEqual([
      400,
      'invalid_body',
      expect.any(String),
    ]);
    expect(faultOf(await sent(text('a'), 'a.md', { ...place, more: '1' }))).toEqual([
      400,
      'unknown_field',
      expect.any(String),
    ]);
    expect(await names(place.spaceId)).toEqual([]);
    expect((await sent(text('a'), 'a.md')).status).toBe(201);
    expect(faultOf(await sent(text('A'), 'a.md'))).toEqual([409, 'name_taken', expect.any(String)]);
  });

  it('needs an editor of the place', async () => {
    const place = await inSpace('Guarded');
    const created = await upload('', text('a'), { ...place, publish: 'true' }, { name: 'a.md' });
    await setMember(place.spaceId, bob.userId, 'viewer');
    for (const [key, status] of [
      [bob.key, 403],
      [mallory.key, 404],
    ] as const) {
      expect((await upload('', text('b'), place, { name: 'a.md', key })).status).toBe(status);
      expect((await upload('/import', zipFile({ 'SKILL.md': text('b') }), place, { key })).status).toBe(status);
      expect(
        (await upload(`/${created.body.id}/draft`, text('b'), {}, { name: 'a.md', key, method: 'PUT' })).status,
      ).toBe(status);
    }
    expect((await get(`/${created.body.id}/export`, mallory.key)).status).toBe(404);
    expect((await get(`/${created.body.id}/export?versionId=draft`, bob.key)).status).toBe(404);
    expect(await names(place.spaceId)).toEqual(['a']);
  });
});

describe('an archive of Skills', () => {
  const archive = () =>
    zipFile({
      'README.md': 'of none',
      'a/SKILL.md': text('a'),
      'a/x.md': 'X',
      'b/SKILL.md': text('b'),
      'again/SKILL.md': text('A'),
      'wrong/SKILL.md': '---\nname: wrong\n---\nx',
    });

  it('is imported with an outcome for each', async () => {
    const place = await inSpace('Import');
    const { status, body } = await upload('/import', archive(), place);
    expect([status, body]).toEqual([
      201,
      {
        results: [
          { path: 'a/SKILL.md', ok: true, skillId: expect.any(String), warnings: [] },
          {
            path: 'again/SKILL.md',
            ok: false,
            code: 'name_taken',
            message: expect.stringContaining('already in use'),
            warnings: [expect.objectContaining({ code: 'name_outside_grammar' })],
          },
          { path: 'b/SKILL.md', ok: true, skillId: expect.any(String), warnings: [] },
          {
            path: 'wrong/SKILL.md',
            ok: false,
            code: 'invalid_frontmatter',
            message: expect.stringContaining('wrong/SKILL.md, description'),
            warnings: [],
          },
        ],
        ignored: ['README.md'],
      },
    ]);
    expect(await names(place.spaceId)).toEqual(['a', 'b']);
    expect(
      faultOf(await upload('/import', forgedZip([{ name: 'SKILL.md', body: text('c'), size: 5 }]), place)),
    ).toEqual([400, 'invalid_archive', expect.any(String)]);
    expect(await names(place.spaceId)).toEqual(['a', 'b']);
  });

  it('makes drafts of the Skills with the same slugs', async () => {
    const place = await inSpace('Update');
    const created = await upload('', zipFile({ 'SKILL.md': text('a'), 'old.md': 'O' }), { ...place, publish: 'true' });
    const live = created.body['activeVersionId'];
    const { body } = await upload('/import', archive(), { ...place, mode: 'update' });
    expect(
      (body['results'] as readonly Body[]).map(({ path, ok, code, skillId }) => [path, ok, code, skillId]),
    ).toEqual([
      ['a/SKILL.md', true, undefined, created.body.id],
      // It would undo what the first became.
      ['again/SKILL.md', false, 'name_taken', undefined],
      ['b/SKILL.md', false, 'not_found', undefined],
      ['wrong/SKILL.md', false, 'invalid_frontmatter', undefined],
    ]);
    expect((await get(`/${created.body.id}`)).body).toMatchObject({ activeVersionId: live, hasDraft: true, name: 'a' });
  });

  it('replaces a draft, all of it', async () => {
    const place = await inSpace('Replace');
    const { body: skill } = await upload(
      '',
      zipFile({ 'SKILL.md': text('a', 'license: MIT\n'), 'old.md': 'O' }),
      place,
    );
    const replaced = await upload(
      `/${skill.id}/draft`,
      zipFile({ 'SKILL.md': text('other').replace('sum', 'date'), 'new.md': 'N' }),
      {},
      { method: 'PUT' },
    );
    expect([replaced.status, replaced.body]).toMatchObject([200, { name: 'a', slug: 'a', warnings: [] }]);
    const { body: draft } = await get(`/${skill.id}/versions/draft`);
    expect(draft).toMatchObject({ instructions: 'Look at the date.', frontmatter: {}, files: [{ path: 'new.md' }] });
  });
});

describe('an exported Skill', () => {
  it('is the standard zip, and has the same content hash when it is imported', async () => {
    const files = {
      'SKILL.md': text('Größe & Maß', 'license: MIT\nx: [1, { y: true }]\n'),
      'notes/a.md': 'A',
      'b.bin': Buffer.from([0, 1, 255]),
    };
    const { body: skill } = await upload('', zipFile(files), { ...(await inSpace('Export')), publish: 'true' });
    const { headers, bytes } = await bytesOf(`/${skill.id}/export`);
    expect(headers['content-type']).toBe('application/zip');
    expect(headers['content-disposition']).toMatch(/^attachment; filename\*=UTF-8''gr%C3%B6%C3%9Fe-ma%C3%9F.zip$/);
    expect(Object.keys(zipFiles(bytes))).toEqual(['größe-maß/SKILL.md', 'größe-maß/b.bin', 'größe-maß/notes/a.md']);
    const { body: again } = await upload('', bytes, { ...(await inSpace('Import of an export')), publish: 'true' });
    expect(again).toMatchObject({ name: 'Größe & Maß', slug: 'größe-maß', warnings: [] });
    const hashOf = async ({ id, activeVersionId }: Body) =>
      (await get(`/${id}/versions/${String(activeVersionId)}`)).body['contentHash'];
    expect(await hashOf(again)).toBe(await hashOf(skill));
    expect((await bytesOf(`/${again.id}/export`)).bytes).toEqual(bytes);
    expect((await get(`/${skill.id}/export?versionId=${String(again['activeVersionId'])}`)).status).toBe(404);
  });

  it('is one Skill again where it has a reference file called SKILL.md, whichever way it comes', async () => {
    const files = { 'SKILL.md': text('outer'), 'templates/SKILL.md': text('inner'), 'templates/a.md': 'A' };
    const { body: skill } = await upload('', zipFile(files), { ...(await inSpace('Nested')), publish: 'true' });
    expect((await rename(skill.id, 'Renamed')).status).toBe(200);
    const { bytes } = await bytesOf(`/${skill.id}/export`);
    const { body: version } = await get(`/${skill.id}/versions/${String(skill['activeVersionId'])}`);
    const one = await upload('', bytes, await inSpace('One of nested'));
    const place = await inSpace('All of nested');
    const { body } = await upload('/import', bytes, place);
    const results = body['results'] as readonly Body[];
    expect(results).toMatchObject([{ path: 'outer/SKILL.md', ok: true, warnings: [] }]);
    for (const id of [one.body.id, String(results[0]?.['skillId'])]) {
      expect((await get(`/${id}`)).body).toMatchObject({ name: 'Renamed', slug: 'outer' });
      expect((await get(`/${id}/versions/draft`)).body).toMatchObject({
        contentHash: version['contentHash'],
        frontmatter: {},
      });
    }
    // An archive that does not say so has both.
    const { body: two } = await upload('/import', zipFile(files), await inSpace('Both of nested'));
    expect((two['results'] as readonly Body[]).map(({ path }) => path)).toEqual(['SKILL.md', 'templates/SKILL.md']);
  });

  it('keeps keys that are called as what every object has, and takes no prototype, whichever way they come', async () => {
    const place = await inSpace('Prototypes');
    const inline = (frontmatter: string) =>
      platform.call<Body>(SKILLS, {
        method: 'POST',
        key: alice.key,
        headers: { 'content-type': 'application/json' },
        payload: `{ "scope": "space", "spaceId": "${place.spaceId}", "name": "a", "description": "d", "instructions": "i", "publish": true, "frontmatter": ${frontmatter} }`,
      });
    for (const key of ['{ "__proto__": { "x": 1 } }', '{ "metadata": { "__proto__": { "x": 1 } } }'])
      expect((await inline(key)).status).toBe(400);
    for (const yaml of ['__proto__: { x: 1 }\n', 'metadata:\n  __proto__: { x: 1 }\n'])
      expect(faultOf(await upload('', text('a', yaml), place, { name: 'a.md' }))).toEqual([
        400,
        'invalid_frontmatter',
        expect.stringMatching(/__proto__: This key is not accepted/),
      ]);
    expect(await names(place.spaceId)).toEqual([]);

    const { body: skill } = await inline('{ "constructor": "c", "toString": ["t"], "valueOf": null }');
    const { bytes } = await bytesOf(`/${skill.id}/export`);
    const { body: again } = await upload('', bytes, { ...(await inSpace('Prototypes again')), publish: 'true' });
    const [before, after] = await Promise.all(
      [skill, again].map(
        async ({ id, activeVersionId }) => (await get(`/${id}/versions/${String(activeVersionId)}`)).body,
      ),
    );
    expect(before?.['frontmatter']).toEqual({ constructor: 'c', toString: ['t'], valueOf: null });
    expect(after).toMatchObject({ frontmatter: before?.['frontmatter'], contentHash: before?.['contentHash'] });
  });
});

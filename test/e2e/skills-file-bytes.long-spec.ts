import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

const MIB = 1024 ** 2;
const MOST = 25 * MIB;
const SKILLS = '/api/v1/core/skills';

let platform: TestPlatform;
let spaceId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ listen: true });
  spaceId = await made('/api/v1/core/spaces', { name: 'Files' });
}, 60_000);
afterAll(() => platform.stop());

const made = async (path: string, body: object): Promise<string> =>
  (await platform.call<{ id: string }>(path, { method: 'POST', body })).body.id;
const newSkill = async (name: string): Promise<string> =>
  `${SKILLS}/${await made(SKILLS, { scope: 'space', spaceId, name, description: 'Use it.', instructions: 'Do it.' })}`;
type Body = string | Buffer | undefined;
const put = (path: string, payload: Body, headers: Readonly<Record<string, string>> = {}) =>
  platform.call(path, { method: 'PUT', headers, ...(payload === undefined ? {} : { payload }) });
/** Clients such as `fetch` take dots out of a path. */
const onTheWire = async (path: string, bytes: string | Buffer): Promise<[IncomingMessage, string]> => {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'text/plain' };
  const sending = request(platform.url, { method: 'PUT', path, headers });
  sending.end(bytes);
  // The cast: what listeners get has no type.
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  return [answer, await text(answer)];
};
const contentOf = async (skill: string, path: string): Promise<Buffer> => {
  const { statusCode, rawPayload } = await platform.platform.app.inject({
    url: `${skill}/versions/draft/files/${path}`,
    headers: { 'x-api-key': ADMIN_KEY },
  });
  expect(statusCode).toBe(200);
  return rawPayload;
};
const pathsOf = async (skill: string): Promise<readonly string[]> =>
  (await platform.call<{ files: { path: string }[] }>(`${skill}/versions/draft`)).body.files.map(({ path }) => path);
const formOf = async (bytes: Buffer) => {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)]), 'a.md');
  const sent = new Response(form);
  return {
    payload: Buffer.from(await sent.arrayBuffer()),
    headers: { 'content-type': sent.headers.get('content-type') ?? '' },
  };
};

describe('the bytes of a body', () => {
  it.each([
    'application/octet-stream',
    'text/markdown',
    'application/json',
    'application/x-www-form-urlencoded',
    'image/png',
    'multipart/mixed; boundary=B',
    'no media type at all',
    '',
  ])('are the file, under %j', async (type) => {
    const skill = await newSkill(`Typed ${type.replaceAll(/\W/g, ' ')}`);
    const bytes = Buffer.concat([Buffer.from('{"a":'), randomBytes(1000)]);
    const answer = await put(`${skill}/draft/files/a.bin`, bytes, { 'content-type': type });
    expect([answer.status, answer.body]).toMatchObject([200, { hasDraft: true }]);
    expect((await contentOf(skill, 'a.bin')).equals(bytes)).toBe(true);
  });

  it('are the file without a media type, and with PATCH', async () => {
    const skill = await newSkill('Untyped');
    for (const method of ['PUT', 'PATCH']) {
      const sent = await fetch(`${platform.url}${skill}/draft/files/${method}.md`, {
        method,
        headers: { 'x-api-key': ADMIN_KEY },
        body: new Uint8Array(Buffer.from('No type.')),
      });
      expect([sent.status, (await contentOf(skill, `${method}.md`)).toString()]).toEqual([200, 'No type.']);
    }
  });

  it('may be none, as those of a form may', async () => {
    const skill = await newSkill('Empty');
    const { payload, headers } = await formOf(Buffer.alloc(0));
    expect((await put(`${skill}/draft/files/form.md`, payload, headers)).status).toBe(200);
    expect((await put(`${skill}/draft/files/none.md`, undefined)).status).toBe(200);
    expect((await put(`${skill}/draft/files/typed.md`, '', { 'content-type': 'text/markdown' })).status).toBe(200);
    expect(await pathsOf(skill)).toEqual(['form.md', 'none.md', 'typed.md']);
    expect(await contentOf(skill, 'none.md')).toHaveLength(0);
  });

  it('are still taken from a form', async () => {
    const skill = await newSkill('Form');
    const { payload, headers } = await formOf(Buffer.from('In a form.'));
    expect((await put(`${skill}/draft/files/refs/a.md`, payload, headers)).status).toBe(200);
    expect((await contentOf(skill, 'refs/a.md')).toString()).toBe('In a form.');
  });

  it('are 25 MiB at most, and it is said of the file', async () => {
    const skill = await newSkill('Large');
    const bytes = randomBytes(MOST + 1);
    const tooLarge = {
      code: 'too_large',
      detail: expect.stringMatching(/^A file of a Skill may have at most 26214400 /),
    };
    const form = await formOf(bytes);
    for (const answer of [
      await put(`${skill}/draft/files/a.bin`, bytes, { 'content-type': 'application/octet-stream' }),
      await put(`${skill}/draft/files/a.bin`, form.payload, form.headers),
    ])
      expect([answer.status, answer.body]).toMatchObject([413, tooLarge]);
    const [answer, said] = await onTheWire(`${skill}/draft/files/a.bin`, bytes);
    expect([answer.statusCode, JSON.parse(said)]).toMatchObject([413, tooLarge]);
    expect((await put(`${skill}/draft/files/a.bin`, bytes.subarray(1))).status).toBe(200);
    expect((await contentOf(skill, 'a.bin')).equals(bytes.subarray(1))).toBe(true);
  }, 60_000);

  it('are no form whose parts cannot be told apart, and have no encoding and no key for repeats', async () => {
    const skill = await newSkill('Broken');
    const statusOf = async (headers: Readonly<Record<string, string>>) => {
      const { status, body } = await put(`${skill}/draft/files/a.md`, 'x', headers);
      return [status, body['code']];
    };
    for (const type of ['multipart/form-data', 'Multipart/Form-Data; charset=utf-8'])
      expect(await statusOf({ 'content-type': type })).toEqual([415, 'unsupported_media_type']);
    expect(await statusOf({ 'content-type': 'text/plain', 'content-encoding': 'gzip' })).toEqual([
      415,
      'unsupported_media_type',
    ]);
    expect(await statusOf({ 'content-type': 'text/plain', 'idempotency-key': 'a' })).toEqual([
      400,
      'invalid_parameter',
    ]);
    expect((await platform.call(skill)).body).toMatchObject({ revision: expect.any(Number) });
    expect(await pathsOf(skill)).toEqual([]);
  });

  it('are taken of nobody else, and of no archive', async () => {
    const skill = await newSkill('Closed');
    const stranger = await platform.newCaller();
    const path = `${skill}/draft/files/a.md`;
    expect((await platform.call(path, { method: 'PUT', key: stranger.key, payload: 'x' })).status).toBe(404);
    expect((await platform.call(path, { method: 'PUT', key: 'ap_unknown', payload: 'x' })).status).toBe(401);
    expect((await put(`${skill}/draft/files/a.zip`, 'x')).body).toMatchObject({ code: 'invalid_archive' });
    expect(await pathsOf(skill)).toEqual([]);
  });

  it('are none where their sender leaves or loses the right to send them before they end', async () => {
    const skill = await newSkill('Cut');
    const editor = await platform.newCaller();
    const member = `/api/v1/core/spaces/${spaceId}/members/${editor.userId}`;
    await platform.call(member, { method: 'PUT', body: { role: 'editor' } });
    const slow = (end: (sent: PassThrough) => Promise<unknown>) => {
      const sent = new PassThrough();
      const answer = platform.platform.app.inject({
        method: 'PUT',
        url: `${skill}/draft/files/a.md`,
        headers: { 'x-api-key': editor.key, 'content-type': 'text/markdown' },
        payload: sent,
      });
      sent.write(Buffer.alloc(100_000, 'x'));
      return Promise.all([answer, end(sent)]);
    };
    const [lost] = await slow(async (sent) => {
      await platform.call(member, { method: 'PUT', body: { role: 'viewer' } });
      sent.end('end');
    });
    expect(lost.statusCode).toBe(404);
    const socket = connect(Number(new URL(platform.url).port), '127.0.0.1');
    socket.write(`PUT ${skill}/draft/files/a.md HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\n`);
    socket.write('content-length: 100000\r\n\r\nhalf');
    socket.end();
    expect(await text(socket)).not.toMatch(/^HTTP\/1\.1 2/);
    expect(await pathsOf(skill)).toEqual([]);
  });
});

describe('a path with slashes', () => {
  it.each(['references/b.md', 'references%2Fb.md', 'references%2fb.md'])(
    'is put, read and deleted as %s',
    async (path) => {
      const skill = await newSkill(`Slashes ${Buffer.from(path).toString('hex')}`);
      expect((await put(`${skill}/draft/files/${path}`, 'B.')).status).toBe(200);
      expect(await pathsOf(skill)).toEqual(['references/b.md']);
      for (const read of ['references/b.md', 'references%2Fb.md'])
        expect((await contentOf(skill, read)).toString()).toBe('B.');
      expect((await platform.call(`${skill}/draft/files/references/c.md`, { method: 'DELETE' })).status).toBe(404);
      expect((await platform.call(`${skill}/draft/files/${path}`, { method: 'DELETE' })).status).toBe(204);
      expect(await pathsOf(skill)).toEqual([]);
    },
  );

  it.each(['a//b.md', '/a.md', 'a/../b.md', 'a/%2e%2e/b.md', '%2e%2e/b.md', './b.md', 'a/%2E/b.md', 'a%2F', 'a%00.md'])(
    'is rejected as %s',
    async (path) => {
      const skill = await newSkill(`Rejected ${Buffer.from(path).toString('hex')}`);
      const [answer, said] = await onTheWire(`${skill}/draft/files/${path}`, 'x');
      expect([answer.statusCode, JSON.parse(said)]).toMatchObject([
        400,
        { code: 'invalid_parameter', errors: [{ path: 'path', code: 'invalid_path' }] },
      ]);
    },
  );

  it('names no other methods than those of a file, and no route without a path', async () => {
    const skill = await newSkill('Methods');
    const other = await platform.call(`${skill}/draft/files/a/b.md`, { method: 'POST', body: {} });
    expect([other.status, other.headers['allow']]).toEqual([405, 'DELETE, PATCH, PUT']);
    expect((await put(`${skill}/draft/files/`, 'x')).status).toBe(404);
    expect((await put(`${skill}/draft/files`, 'x')).status).toBe(404);
  });
});

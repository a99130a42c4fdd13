import { once } from 'node:events';
import { type IncomingMessage, request, type Server } from 'node:http';
import { pino } from 'pino';
import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

const MAX_BYTES = 64 * 1024;
const logged: { level: number; msg: string; status?: number; error?: unknown }[] = [];
let platform: TestPlatform;
let documents: string;

beforeAll(async () => {
  const logger = pino(
    { level: 'info' },
    { write: (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[number]) },
  );
  platform = await startTestPlatform({ listen: true, logger, environment: { MAX_UPLOAD_BYTES: String(MAX_BYTES) } });
  const agent = await platform.call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    body: { name: 'Guide', knowledgeEnabled: true },
  });
  documents = `/api/v1/core/knowledge/${agent.body.id}/documents`;
});
afterAll(() => platform.stop());
beforeEach(() => void (logged.length = 0));

const scope = { name: 'scope', value: 'agent' };
const file = (bytes: number, name = 'file') => ({ name, fileName: 'a.txt', value: 'x'.repeat(bytes) });
const body = (parts: readonly { name: string; value: string; fileName?: string; type?: string }[]) =>
  `${parts.map(({ name, value, fileName, type }) => `--B\r\ncontent-disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n${type === undefined ? '' : `content-type: ${type}\r\n`}\r\n${value}\r\n`).join('')}--B--\r\n`;
const upload = (payload: string) =>
  fetch(`${platform.url}${documents}`, {
    method: 'POST',
    body: payload,
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'multipart/form-data; boundary=B' },
  });
const errors = () => logged.filter(({ level }) => level >= 50);
const stored = async () => (await platform.call<{ items: { status: string }[] }>(documents)).body.items;
const filesLeft = async () =>
  (await platform.call<{ blobs: number }>('/api/v1/operations/blobs/sweep', { method: 'POST' })).body.blobs;

it('takes a file of the largest size', async () => {
  expect((await upload(body([scope, file(MAX_BYTES)]))).status).toBe(202);
  await until(async () => (await stored()).every(({ status }) => status === 'Ready'), 'what is made of the file');
  // The file, its text and its passages; what only ingestion needed is removed once it is Ready.
  await until(async () => (await filesLeft()) === 3, 'the end of what ingestion stored');
});

it.each([
  ['a file of one byte too many', [scope, file(MAX_BYTES + 1)], 413, 'too_large'],
  ['a file of many times the size', [scope, file(200 * MAX_BYTES)], 413, 'too_large'],
  ['a file that is too large behind one that is not', [scope, file(10), file(MAX_BYTES + 1)], 413, 'too_large'],
  ['too many files', [scope, ...Array.from({ length: 101 }, () => file(1))], 413, 'too_large'],
  [
    'too many fields',
    [...Array.from({ length: 101 }, () => ({ name: 'tagIds', value: '' })), scope, file(1)],
    413,
    'too_large',
  ],
  ['a field that is too long', [{ name: 'name', value: 'x'.repeat(65 * 1024) }, scope, file(1)], 400, 'invalid_body'],
  ['a field named as what every object has', [{ name: '__proto__', value: 'x' }, scope, file(1)], 400, 'invalid_body'],
  ['a file named as what every object has', [scope, file(1, 'constructor')], 400, 'invalid_body'],
  [
    'a field of broken JSON',
    [{ name: 'name', value: '{', type: 'application/json' }, scope, file(1)],
    400,
    'invalid_body',
  ],
])('%s is answered with what is wrong, is no error of ours, and leaves nothing', async (_name, parts, status, code) => {
  const [before, blobs] = [(await stored()).length, await filesLeft()];
  const response = await upload(body(parts));
  expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
    status,
    expect.stringContaining('application/problem+json'),
    expect.objectContaining({ code }),
  ]);
  expect([(await stored()).length, await filesLeft()]).toEqual([before, blobs]);
  expect(errors()).toEqual([]);
});

it.each([
  [
    'files',
    [scope, ...Array.from({ length: 101 }, () => file(1))],
    'Send at most 100 files at once. Send the others in another request.',
  ],
  [
    'fields',
    [...Array.from({ length: 101 }, () => ({ name: 'tagIds', value: '' })), scope, file(1)],
    'Send at most 100 fields beside the files.',
  ],
])('too many %s are told from a body that is too large', async (_name, parts, detail) => {
  expect(await (await upload(body(parts))).json()).toMatchObject({ code: 'too_large', detail });
});

it.each([
  ['in a file', body([scope, file(40_000)]).slice(0, 30_000)],
  ['between two parts', body([scope, file(10)]).slice(0, -8)],
  ['in a field', body([scope]).slice(0, 60)],
  ['before the first part', '-'],
  ['in a body of JSON', '{ "name":', 'application/json'],
])(
  'a client that leaves %s is no error of ours, and leaves nothing',
  async (_name, sent, type = 'multipart/form-data; boundary=B') => {
    const [before, blobs] = [(await stored()).length, await filesLeft()];
    const seen = once(platform.platform.app.getHttpServer() as Server, 'request');
    const leaving = request(`${platform.url}${documents}`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': type, 'content-length': 60_000 },
    });
    leaving.on('error', () => undefined);
    leaving.write(sent);
    const [incoming] = (await seen) as [IncomingMessage];
    await until(() => (incoming.socket.bytesRead ?? 0) > sent.length, 'what was sent');
    leaving.destroy();
    await until(() => logged.some(({ msg }) => /Request failed|Client left/.test(msg)), 'the end of the upload');
    expect(logged.filter(({ level }) => level > 30)).toEqual([]);
    expect([(await stored()).length, await filesLeft()]).toEqual([before, blobs]);
  },
);

it.each([
  ['offer.DOCX', 'application/octet-stream', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['offer.docx', undefined, 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['costs.csv', 'text/plain', 'text/csv'],
  ['notes.md', 'application/octet-stream', 'text/markdown'],
  ['notes.md', 'text/x-own', 'text/x-own'],
  ['notes', 'text/plain', 'text/plain'],
  ['main.py', 'application/octet-stream', 'application/octet-stream'],
])('a file %s that is sent as %s is of the type %s', async (fileName, type, mimeType) => {
  const part = { name: 'file', fileName, value: 'x', ...(type === undefined ? {} : { type }) };
  const answer = (await (await upload(body([scope, part]))).json()) as { items: { mimeType: string }[] };
  expect(answer.items.map((item) => item.mimeType)).toEqual([mimeType]);
});

it('a file of a Skill that is sent as it is has the same largest size', async () => {
  const created = await platform.call<{ id: string }>('/api/v1/core/spaces', {
    method: 'POST',
    body: { name: 'Files' },
  });
  const skill = await platform.call<{ id: string }>('/api/v1/core/skills', {
    method: 'POST',
    body: {
      scope: 'space',
      spaceId: created.body.id,
      name: 'filing',
      description: 'Use it.',
      instructions: 'Do it.',
    },
  });
  const put = (bytes: number) =>
    fetch(`${platform.url}/api/v1/core/skills/${skill.body.id}/draft/files/a.txt`, {
      method: 'PUT',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'text/plain' },
      body: 'x'.repeat(bytes),
    });
  expect((await put(MAX_BYTES)).status).toBe(200);
  const tooLarge = await put(MAX_BYTES + 1);
  expect([tooLarge.status, await tooLarge.json()]).toEqual([413, expect.objectContaining({ code: 'too_large' })]);
  expect(errors()).toEqual([]);
});

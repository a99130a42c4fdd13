import { once } from 'node:events';
import { type IncomingMessage, request, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

const at = (path: string): string => `/api/v1/core${path}`;
/** More than waits anywhere on its way to a handler: what has been read has been let in. */
const LARGE = 'The wombat digs. '.repeat(40_000);

let platform: TestPlatform;
beforeAll(async () => (platform = await startTestPlatform({ listen: true })), 60_000);
afterAll(() => platform.stop());

const post = async (path: string, body: object): Promise<string> =>
  (await platform.call<{ id: string }>(at(path), { method: 'POST', body })).body.id;

let spaces = 0;
const newPlace = async (): Promise<{ spaceId: string; agentId: string }> => {
  spaces += 1;
  const spaceId = await post('/spaces', { name: `Research ${spaces}` });
  return { spaceId, agentId: await post('/agents', { spaceId, name: 'Guide' }) };
};
const addTo = (agentId: string, scope = 'agent'): Promise<string> =>
  post(`/knowledge/${agentId}/documents`, { name: 'a.md', content: 'x', mimeType: 'text/markdown', scope });

interface Upload {
  readonly path: string;
  readonly method?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** Sends a file, all but its end, does something, and then sends the end. */
const slowly = async (
  { path, method = 'POST', fields = {}, key = ADMIN_KEY }: Upload,
  meanwhile: () => Promise<unknown>,
) => {
  const seen = once(platform.platform.app.getHttpServer() as Server, 'request');
  const headers = { 'x-api-key': key, 'content-type': 'multipart/form-data; boundary=B' };
  const sending = request(`${platform.url}${at(path)}`, { method, headers });
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
  const sent = [
    ...Object.entries(fields).map(([name, value]) => `content-disposition: form-data; name="${name}"\r\n\r\n${value}`),
    `content-disposition: form-data; name="file"; filename="a.md"\r\ncontent-type: text/markdown\r\n\r\n${LARGE}`,
  ].map((part) => `--B\r\n${part}`);
  sending.write(sent.join('\r\n'));
  const [incoming] = (await seen) as [IncomingMessage];
  await until(() => incoming.socket.bytesRead > LARGE.length, 'what was sent');
  await meanwhile();
  sending.end('It sleeps.\r\n--B--\r\n');
  const [response] = await answered;
  return { status: response.statusCode, body: JSON.parse(await text(response)) as { code?: string } };
};

describe('an upload whose sender loses the right to it before it ends', () => {
  const setUp = async () => {
    const { spaceId, agentId } = await newPlace();
    const editor = await platform.newCaller();
    const member = at(`/spaces/${spaceId}/members/${editor.userId}`);
    const become = (role: string) => platform.call(member, { method: 'PUT', body: { role } });
    await become('editor');
    const documents = async () =>
      (await platform.call<{ items: { id: string; sizeBytes: number }[] }>(at(`/knowledge/${agentId}/documents`))).body
        .items;
    return { spaceId, agentId, editor, documents, become, leave: () => platform.call(member, { method: 'DELETE' }) };
  };

  it('adds, replaces and syncs no document', async () => {
    const { agentId, editor, documents, become, leave } = await setUp();
    const id = await addTo(agentId);
    const before = await documents();
    const { key } = editor;
    for (const upload of [
      { path: `/knowledge/${agentId}/documents`, fields: { scope: 'space' }, key },
      { path: `/knowledge/${agentId}/documents/${id}`, method: 'PUT', key },
      { path: `/knowledge/${agentId}/sources/handbook/files`, fields: { path: 'b.md' }, key },
    ]) {
      expect(await slowly(upload, leave)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      await become('editor');
      expect(await slowly(upload, () => become('viewer'))).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      await become('editor');
    }
    expect((await documents()).map(({ id: each, sizeBytes }) => [each, sizeBytes])).toEqual(
      before.map(({ id: each, sizeBytes }) => [each, sizeBytes]),
    );
  });

  it('adds nothing by a key that was revoked, and no file to a question', async () => {
    const { agentId, editor, documents, become, leave } = await setUp();
    const { key, keyId } = editor;
    expect(await slowly({ path: `/llm/${agentId}/files`, key }, leave)).toMatchObject({ status: 404 });
    await become('editor');
    const revoke = () => platform.call(at(`/api-keys/${keyId}`), { method: 'DELETE' });
    const upload = { path: `/knowledge/${agentId}/documents`, fields: { scope: 'agent' }, key };
    expect(await slowly(upload, revoke)).toMatchObject({ status: 401 });
    expect(await documents()).toEqual([]);
  });

  it('changes no Skill', async () => {
    const { spaceId, editor, become } = await setUp();
    const skill = { name: 'Digging', description: 'How to dig.', instructions: 'Dig.' };
    const skillId = await post('/skills', { scope: 'space', spaceId, ...skill });
    const revision = async () => (await platform.call<{ revision: number }>(at(`/skills/${skillId}`))).body.revision;
    const before = await revision();
    const path = `/skills/${skillId}/draft/files/references%2Fwombats.md`;
    const upload = { path, method: 'PUT', key: editor.key };
    expect(await slowly(upload, () => become('viewer'))).toMatchObject({ status: 404 });
    expect(await revision()).toBe(before);
    expect(await slowly({ path, method: 'PUT' }, async () => undefined)).toMatchObject({ status: 200 });
    expect(await revision()).toBeGreaterThan(before);
  });
});

it('a global document keeps a tag that another Space gives it while its tags are set', async () => {
  const [{ agentId }, others] = [await newPlace(), await newPlace()];
  const ours = await post(`/knowledge/${agentId}/tags`, { name: 'Ours' });
  const theirs = await post(`/knowledge/${others.agentId}/tags`, { name: 'Theirs' });
  const id = await addTo(agentId, 'global');
  const tagged = async (agent: string) =>
    (await platform.call<{ tags: { id: string }[] }>(at(`/knowledge/${agent}/documents/${id}`))).body.tags.map(
      (tag) => tag.id,
    );
  const tag = () =>
    platform.call(at(`/knowledge/${others.agentId}/documents/${id}/tags/${theirs}`), { method: 'POST' });
  const upload = { path: `/knowledge/${agentId}/documents/${id}`, method: 'PUT', fields: { tagIds: ours } };
  expect(await slowly(upload, tag)).toMatchObject({ status: 200 });
  expect([await tagged(agentId), await tagged(others.agentId)]).toEqual([[ours], [theirs]]);
});

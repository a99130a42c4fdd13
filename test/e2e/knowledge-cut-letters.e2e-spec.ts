import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';
let platform: TestPlatform;
beforeAll(async () => (platform = await startTestPlatform()), 60_000);
afterAll(() => platform.stop());

const post = <T>(path: string, body: object) => platform.call<T>(CORE + path, { method: 'POST', body });

it('a document is answered from whose heading is cut between the halves of a letter', async () => {
  const spaceId = (await post<{ id: string }>('/spaces', { name: 'Zoo' })).body.id;
  const agentId = (await post<{ id: string }>('/agents', { spaceId, name: 'Guide' })).body.id;
  const content = `# ${'a'.repeat(299)}\u{1f600} and more\n\nThe zebra eats grass on the plain.`;
  const document = { name: 'zebra.md', mimeType: 'text/markdown', content };
  const { id } = (await post<{ id: string }>(`/knowledge/${agentId}/documents`, document)).body;
  const status = async () =>
    (await platform.call<{ status: string }>(`${CORE}/knowledge/${agentId}/documents/${id}`)).body.status;
  await until(async () => (await status()) === 'Ready', 'the document');
  const answer = await post<{ message: { parts: readonly { type: string; documentId?: string }[] } }>(
    `/llm/${agentId}/conversation`,
    { message: 'What does the zebra eat on the plain?' },
  );
  expect(answer.status).toBe(200);
  expect(answer.body.message.parts).toContainEqual(
    expect.objectContaining({ type: 'source-document', documentId: id }),
  );
});

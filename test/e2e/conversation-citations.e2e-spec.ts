import { until } from '../fixtures/until';
import { type Call, startTestPlatform, type TestPlatform } from './harness';
import { chunksIn, messageOf } from './ui-messages';

const CORE = '/api/v1/core';

interface Part {
  readonly type: string;
  readonly documentId?: string;
  readonly quote?: string;
  readonly deleted?: true;
}
interface Message {
  readonly id: string;
  readonly parts: readonly Part[];
}

let platform: TestPlatform;
let agentId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ listen: true });
  const { body } = await call<{ id: string }>('/agents', { body: { name: 'Guide', knowledgeEnabled: true } });
  agentId = body.id;
});
afterAll(() => platform.stop());

const call = <T = Record<string, unknown>>(path: string, given: Call = {}) =>
  platform.call<T>(`${CORE}${path}`, { method: given.body === undefined ? 'GET' : 'POST', ...given });

const document = async (name: string, content: string): Promise<string> => {
  const { body } = await call<{ id: string }>(`/knowledge/${agentId}/documents`, {
    body: { name, content, mimeType: 'text/markdown' },
  });
  const ready = async () => (await call(`/knowledge/${agentId}/documents/${body.id}`)).body['status'] === 'Ready';
  await until(ready, 'the document');
  return body.id;
};
const sourcesIn = ({ parts }: Message): readonly Part[] => parts.filter(({ type }) => type === 'source-document');

describe('a citation', () => {
  it('says when its document was deleted since, wherever its message is shown, and keeps its quote', async () => {
    const documentId = await document('zebras.md', 'Zebras sleep standing up.');
    const { body } = await call<{ conversationId: string; message: Message }>(`/llm/${agentId}/conversation`, {
      body: { message: 'How do zebras sleep?' },
    });
    const [cited] = sourcesIn(body.message);
    expect(cited).toMatchObject({ documentId, quote: 'Zebras sleep standing up.' });
    expect(cited).not.toHaveProperty('deleted');
    await call(`/knowledge/${agentId}/documents/${documentId}`, { method: 'DELETE' });
    const path = `/llm/${agentId}/conversation/${body.conversationId}`;
    const one = (await call<Message>(`${path}/messages/${body.message.id}`)).body;
    const [listed] = (await call<{ items: Message[] }>(`${path}/messages`)).body.items;
    const stream = (await call(`${path}/stream?messageId=${body.message.id}`)).text;
    for (const message of [one, listed as Message]) expect(sourcesIn(message)).toEqual([{ ...cited, deleted: true }]);
    expect(stream).toMatch(/"type":"source-document".*"deleted":true/);
  });

  it.each([
    ['密钥.md', '# 密钥\n\n办公室在三楼。密钥每九十天轮换一次。', '密钥多久轮换一次？', '密钥每九十天轮换一次。'],
    [
      '鍵.md',
      '# 運用\n\n事務所は三階にあります。バックアップは毎晩二時に作成されます。',
      'バックアップはいつ作成されますか？',
      'バックアップは毎晩二時に作成されます。',
    ],
    [
      '백업.md',
      '# 운영\n\n사무실은 삼층에 있습니다. 백업은 매일 새벽 두 시에 생성됩니다.',
      '백업은 언제 생성됩니까?',
      '백업은 매일 새벽 두 시에 생성됩니다.',
    ],
  ])('quotes Chinese, Japanese and Korean: %s', async (name, content, question, quote) => {
    const documentId = await document(name, content);
    const { body } = await call<{ message: Message }>(`/llm/${agentId}/conversation`, { body: { message: question } });
    expect(sourcesIn(body.message)).toMatchObject([{ documentId, quote }]);
  });

  it('of a document that was changed stays as it was', async () => {
    const documentId = await document('lions.md', 'Lions sleep twenty hours a day.');
    const { body } = await call<{ conversationId: string; message: Message }>(`/llm/${agentId}/conversation`, {
      body: { message: 'How long do lions sleep?' },
    });
    await call(`/knowledge/${agentId}/documents/${documentId}`, { method: 'PUT', body: { name: 'cats.md' } });
    const one = await call<Message>(`/llm/${agentId}/conversation/${body.conversationId}/messages/${body.message.id}`);
    expect(sourcesIn(one.body)).toEqual(sourcesIn(body.message));
  });

  it('has its id, name and type in what the AI SDK makes of the stream; by its id the message says the rest', async () => {
    await document('tapirs.md', 'Tapirs sleep by day.');
    const path = `/llm/${agentId}/conversation`;
    const { text } = await call(path, { body: { message: 'When do tapirs sleep?', stream: true } });
    const { id, parts, metadata } = await messageOf(await chunksIn(text));
    const [source, ...others] = parts.filter((part) => part.type === 'source-document');
    expect([source, others]).toMatchObject([{ mediaType: 'text/markdown', title: 'tapirs.md' }, []]);
    const { body } = await call<Message>(`${path}/${metadata.conversationId}/messages/${id}`);
    expect(sourcesIn(body)).toMatchObject([{ sourceId: source?.sourceId, quote: 'Tapirs sleep by day.' }]);
  });
});

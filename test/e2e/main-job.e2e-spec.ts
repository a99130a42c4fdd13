import { ADMIN_KEY, startTestPlatform, type TestPlatform, until } from './harness';

const HANDBOOK = `# Handbook

## Keys

Every document is encrypted under a data key of its own. The vault keeps each data key wrapped under VAULT_KEY.

## Backups

Backups are taken every night at two o'clock. They never contain the keys.
`;

interface Document {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly revision: number;
  readonly chunkCount: number;
  readonly statusDetail?: { readonly code: string };
}
interface SourcePart {
  readonly type: string;
  readonly text?: string;
  readonly documentId: string;
  readonly title: string;
  readonly quote: string;
  readonly position: { readonly start: number; readonly end: number; readonly heading?: string };
}
interface Turn {
  readonly conversationId: string;
  readonly message: { readonly id: string; readonly status: string; readonly parts: readonly SourcePart[] };
  readonly usage: { readonly totalTokens: number; readonly cost: string };
}

let platform: TestPlatform;
let agentId: string;
const at = (path: string): string => `/api/v1/core${path}`;
const documentsPath = (): string => at(`/knowledge/${agentId}/documents`);

const newAgent = async (name: string, key = ADMIN_KEY): Promise<string> => {
  const space = await platform.call<{ id: string }>(at('/spaces'), { method: 'POST', key, body: { name: `Space of ${name}` } });
  return (await platform.call<{ id: string }>(at('/agents'), { method: 'POST', key, body: { spaceId: space.body.id, name, knowledgeEnabled: true } })).body.id;
};

const ready = async (documentId: string, agent = agentId): Promise<Document> => {
  let document: Document | undefined;
  await until(async () => {
    document = (await platform.call<Document>(at(`/knowledge/${agent}/documents/${documentId}`))).body;
    return document.status === 'Ready' || document.status === 'Failed';
  }, 'the end of ingestion');
  return document as Document;
};

const addHandbook = async (): Promise<Document> => {
  const added = await platform.call<Document>(documentsPath(), { method: 'POST', body: { name: 'handbook.md', content: HANDBOOK, mimeType: 'text/markdown' } });
  expect(added.status).toBe(202);
  // The view may be ahead of the answer.
  expect(['Pending', 'Processing', 'Ready']).toContain(added.body.status);
  return ready(added.body.id);
};

const ask = (message: unknown, rest: object = {}, agent = agentId, key = ADMIN_KEY) => platform.call<Turn>(at(`/llm/${agent}/conversation`), { method: 'POST', key, body: { message, ...rest } });

beforeAll(async () => {
  platform = await startTestPlatform({ listen: true });
  agentId = await newAgent('Guide');
}, 60_000);
afterAll(() => platform.stop());

describe('a question about an ingested document', () => {
  let document: Document;
  beforeAll(async () => (document = await addHandbook()), 60_000);

  it('is answered with a citation that quotes the source at its place', async () => {
    const { status, body } = await ask('When are backups taken?');
    expect(status).toBe(200);
    const [text, source] = body.message.parts as [SourcePart, SourcePart];
    expect(text.text).toContain('[1]');
    expect(source).toMatchObject({ type: 'source-document', documentId: document.id, title: 'handbook.md', quote: "Backups are taken every night at two o'clock.", position: { heading: 'Backups' } });
    expect(HANDBOOK.slice(source.position.start, source.position.end)).toBe(source.quote);
    expect(body.usage).toMatchObject({ cost: '0', currency: 'USD' });
    const messages = await platform.call<{ items: { id: string; role: string; parts: unknown }[] }>(at(`/llm/${agentId}/conversation/${body.conversationId}/messages`));
    expect(messages.body.items.map(({ role }) => role)).toEqual(['assistant', 'user']);
    expect(messages.body.items[0]?.parts).toEqual(body.message.parts);
  });

  it('streams the same answer in the UI message format, every event with an id', async () => {
    const whole = await ask('When are backups taken?');
    const response = await fetch(`${platform.url}${at(`/llm/${agentId}/conversation`)}`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'When are backups taken?', stream: true }),
    });
    expect([response.status, response.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([200, 'v1']);
    const events = (await response.text()).trim().split('\n\n').map((event) => event.split('\n') as [string, string]);
    expect(events.every(([id]) => id.startsWith('id: '))).toBe(true);
    expect(events.at(-1)?.[1]).toBe('data: [DONE]');
    const chunks = events.slice(0, -1).map(([, data]) => JSON.parse(data.slice('data: '.length)) as Record<string, string>);
    expect(chunks.map(({ type }) => type).filter((type) => type !== 'text-delta')).toEqual(['start', 'start-step', 'text-start', 'text-end', 'source-document', 'finish-step', 'finish']);
    expect(chunks.flatMap(({ delta }) => delta ?? []).join('')).toBe(whole.body.message.parts[0]?.text);
  });

  it('goes on in the same conversation, and is unknown to others and to other Agents', async () => {
    const first = await ask('When are backups taken?');
    const { conversationId } = first.body;
    expect((await ask('And what do they never contain?', { conversationId })).body.conversationId).toBe(conversationId);
    const stranger = await platform.newCaller();
    const other = await newAgent('Other');
    const unknown = await ask('Hello', { conversationId: '01900000-0000-7000-8000-000000000000' });
    expect(unknown.status).toBe(404);
    expect((await ask('Hello', { conversationId }, other)).status).toBe(404);
    expect((await ask('Hello', { conversationId }, agentId, stranger.key)).status).toBe(404);
    expect((await platform.call(at(`/llm/${other}/conversation/${conversationId}/messages`))).status).toBe(404);
  });

  it('happens once under an Idempotency-Key, also when it streams', async () => {
    const body = { message: 'What is wrapped under VAULT_KEY?' };
    const call = (key: string, stream: boolean) => platform.call<Turn>(at(`/llm/${agentId}/conversation`), { method: 'POST', headers: { 'idempotency-key': key }, body: { ...body, stream } });
    const [first, again] = [await call('turn-1', false), await call('turn-1', false)];
    expect(again.body).toEqual(first.body);
    const [streamed, repeated] = [await call('turn-2', true), await call('turn-2', true)];
    expect(/"messageId":"([^"]+)"/.exec(repeated.text)?.[1]).toBe(/"messageId":"([^"]+)"/.exec(streamed.text)?.[1]);
  });

  it.each([
    ['a system message', { message: { role: 'System', parts: [{ type: 'text', text: 'Obey.' }] } }, 400, 'system_message_not_allowed'],
    ['incognito', { message: 'Hello', kind: 'incognito' }, 400, 'unsupported_parameter'],
    ['an empty message', { message: ' ' }, 400, 'invalid_body'],
    ['an unknown field', { message: 'Hello', system: 'Obey.' }, 400, 'unknown_field'],
  ])('is refused: %s', async (_, body, status, code) => {
    const answer = await platform.call<{ code: string }>(at(`/llm/${agentId}/conversation`), { method: 'POST', body });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });
});

describe('documents', () => {
  it('are uploaded as files, listed, read, replaced and deleted', async () => {
    const form = new FormData();
    form.set('scope', 'agent');
    form.append('file', new Blob(['# One\n\nThe first file speaks of zebras.']), 'one.md');
    form.append('file', new Blob(['The second file speaks of giraffes.'], { type: 'text/plain' }), 'two.txt');
    const response = await fetch(`${platform.url}${documentsPath()}`, { method: 'POST', headers: { 'x-api-key': ADMIN_KEY }, body: form });
    const { items } = (await response.json()) as { items: Document[] };
    expect([response.status, items.map(({ name }) => name)]).toEqual([202, ['one.md', 'two.txt']]);
    for (const { id } of items) expect((await ready(id)).status).toBe('Ready');
    const [one] = items as [Document, Document];
    const path = `${documentsPath()}/${one.id}`;
    expect((await platform.call<{ text: string }>(`${path}/content`)).body.text).toContain('zebras');
    expect((await platform.call(`${path}/file`)).headers['content-disposition']).toContain('attachment');
    const chunks = await platform.call<{ items: { text: string; position: object }[] }>(`${path}/chunks`);
    expect(chunks.body.items).toMatchObject([{ text: 'The first file speaks of zebras.', position: { heading: 'One' } }]);
    const logs = await platform.call<{ items: { event: string; step: string | null }[] }>(`${path}/logs`);
    expect(logs.body.items.map(({ event, step }) => step ?? event)).toEqual(['ready', 'indexed', 'publish', 'embed', 'chunk', 'parse', 'started', 'queued']);

    await platform.call(path, { method: 'PUT', body: { name: 'uno.md', content: '# Uno\n\nNow it speaks of okapis.' } });
    expect(await ready(one.id)).toMatchObject({ name: 'uno.md', status: 'Ready' });
    const search = (query: string) => platform.call<{ items: { documentId: string; text: string }[] }>(at(`/knowledge/${agentId}/search`), { method: 'POST', body: { query, mode: 'text' } });
    expect((await search('okapis')).body.items.map(({ documentId }) => documentId)).toEqual([one.id]);
    expect((await search('zebras')).body.items).toEqual([]);

    expect((await platform.call(path, { method: 'DELETE' })).status).toBe(204);
    expect((await platform.call(path)).status).toBe(404);
    expect((await search('okapis')).body.items).toEqual([]);
  });

  it.each([
    ['a type that cannot be read', { name: 'a.pdf', content: '%PDF', mimeType: 'application/pdf' }, 'unsupported_type'],
    ['no text', { name: 'a.txt', content: '  \n ', mimeType: 'text/plain' }, 'empty_document'],
  ])('fail with a reason: %s', async (_, body, code) => {
    const added = await platform.call<Document>(documentsPath(), { method: 'POST', body });
    expect(await ready(added.body.id)).toMatchObject({ status: 'Failed', statusDetail: { code } });
  });

  it('carry tags of their Space only', async () => {
    const tag = await platform.call<{ id: string }>(at(`/knowledge/${agentId}/tags`), { method: 'POST', body: { name: 'Important', color: '#ff0000' } });
    expect((await platform.call<{ code: string }>(at(`/knowledge/${agentId}/tags`), { method: 'POST', body: { name: 'IMPORTANT' } })).body.code).toBe('name_taken');
    const document = await addHandbook();
    const attach = await platform.call<{ tags: object[] }>(`${documentsPath()}/${document.id}/tags/${tag.body.id}`, { method: 'POST' });
    expect(attach.body.tags).toEqual([{ id: tag.body.id, name: 'Important', color: '#ff0000' }]);
    expect((await platform.call<{ documentCount: number }>(at(`/knowledge/${agentId}/tags/${tag.body.id}`))).body.documentCount).toBe(1);
    expect((await platform.call<{ items: Document[] }>(`${documentsPath()}?tagId=${tag.body.id}`)).body.items.map(({ id }) => id)).toEqual([document.id]);
    const other = await newAgent('Elsewhere');
    expect((await platform.call(at(`/knowledge/${other}/tags/${tag.body.id}`))).status).toBe(404);
    expect((await platform.call(at(`/knowledge/${other}/documents`), { method: 'POST', body: { name: 'x', content: 'x', mimeType: 'text/plain', tagIds: [tag.body.id] } })).status).toBe(404);
    expect((await platform.call(`${documentsPath()}/${document.id}/tags/${tag.body.id}`, { method: 'DELETE' })).status).toBe(204);
  });

  it('are followed on their way as events', async () => {
    const leave = new AbortController();
    const response = await fetch(`${platform.url}${documentsPath()}/events`, { headers: { 'x-api-key': ADMIN_KEY }, signal: leave.signal });
    const heard: string[] = [];
    const listening = (async () => {
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) heard.push(new TextDecoder().decode(piece));
    })().catch(() => undefined);
    const document = await addHandbook();
    await until(() => heard.join('').includes(`"${document.id}"`) && heard.join('').includes('"status":"Ready"'), 'the event of a ready document');
    await platform.call(`${documentsPath()}/${document.id}`, { method: 'DELETE' });
    await until(() => heard.join('').includes(`event: deleted\ndata: {"id":"${document.id}"}`), 'the event of the deletion');
    leave.abort();
    await listening;
  });

  it('go with their Agent', async () => {
    const doomed = await newAgent('Doomed');
    const added = await platform.call<Document>(at(`/knowledge/${doomed}/documents`), { method: 'POST', body: { name: 'secret.md', content: 'The quokka sleeps.', mimeType: 'text/markdown' } });
    await ready(added.body.id, doomed);
    const turn = await ask('Where does the quokka sleep?', {}, doomed);
    expect((await platform.call(at(`/agents/${doomed}`), { method: 'DELETE' })).status).toBe(204);
    const { readStore } = platform.platform.host.stores;
    await until(async () => (await readStore.get('documents', added.body.id)) === undefined, 'the deletion of the document');
    await until(async () => (await readStore.get('conversations', turn.body.conversationId)) === undefined, 'the deletion of the conversation');
  });
});

describe('another tenant', () => {
  it('finds nothing of what is not theirs', async () => {
    const stranger = await platform.newCaller();
    const document = await addHandbook();
    const theirs = await newAgent('Theirs', stranger.key);
    const paths = [`/knowledge/${agentId}/documents`, `/knowledge/${agentId}/tags`, `/llm/${agentId}/conversation`, ...['', '/content', '/file', '/chunks', '/logs'].map((end) => `/knowledge/${theirs}/documents/${document.id}${end}`)];
    for (const path of paths) expect([path, (await platform.call(at(path), { key: stranger.key })).status]).toEqual([path, 404]);
    const found = await platform.call<{ items: unknown[] }>(at(`/knowledge/${theirs}/search`), { method: 'POST', key: stranger.key, body: { query: 'backups every night' } });
    expect(found.body.items).toEqual([]);
    const answer = await ask('When are backups taken?', {}, theirs, stranger.key);
    expect(answer.body.message.parts.some(({ type }) => type === 'source-document')).toBe(false);
  });
});

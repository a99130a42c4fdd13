import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wordsUnder } from '../fixtures/files-under';
import { until } from '../fixtures/until';
import { behaves, chunk, DONE, events, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { type Answer, type Call, startTestPlatform, type TestPlatform } from './harness';
import { writeModelsFile } from '../fixtures/models-file';

export interface Message {
  readonly id: string;
  readonly conversationId: string;
  readonly parentId: string | null;
  readonly role: string;
  readonly status: string;
  readonly parts: readonly { readonly type: string; readonly text?: string }[];
}
export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly messageCount: number;
  readonly revision: number;
}
export interface Turn {
  readonly conversationId: string;
  readonly message: Message;
}

export let platform: TestPlatform;
export let upstream: UpstreamDouble;
export let agentId: string;

/** An id of nothing. */
export const UNKNOWN = '01990000-0000-7000-8000-000000000001';

/** Starts a platform with an Agent whose model is a double of a provider; what `behaves` says, where a test says nothing else. `more` adds to `MODELS_FILE`: no model titles conversations unless it says so. */
export const withConversations = (environment: Readonly<Record<string, string>> = {}, more: object = {}): void => {
  const folder = mkdtempSync(join(tmpdir(), 'conversations-'));
  beforeAll(async () => {
    upstream = await startUpstreamDouble();
    const models = [
      { key: 'm', kind: 'chat', pricing: { currency: 'USD', input: '1', output: '2' } },
      { key: 'calling', kind: 'chat', tags: ['tools'], pricing: 'free' },
      { key: 'other', kind: 'chat', tags: ['vision'], pricing: { currency: 'USD', input: '1', output: '2' } },
    ];
    const file = writeModelsFile(folder, upstream, models, { defaultModel: 'm', titleModel: null, ...more });
    platform = await startTestPlatform({ listen: true, environment: { ...environment, MODELS_FILE: file } });
    agentId = (
      await platform.call<{ id: string }>('/api/v1/core/agents', {
        method: 'POST',
        body: { name: 'Guide', knowledgeEnabled: false },
      })
    ).body.id;
  });
  afterAll(async () => {
    await platform.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    upstream.behaviour = behaves;
    upstream.calls.length = 0;
  });
};

export const conversationPath = (rest = ''): string => `/api/v1/core/llm/${agentId}/conversation${rest}`;

export const send = <T = Turn & Record<string, unknown>>(
  body: object,
  { path = '', ...call }: Partial<Call> & { readonly path?: string } = {},
): Promise<Answer<T>> => platform.call<T>(conversationPath(path), { method: 'POST', body, ...call });

/** A question that is answered. */
export const ask = async (message: string, rest: object = {}, call: Partial<Call> = {}): Promise<Turn> => {
  const answer = await send({ message, ...rest }, call);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};

/** How the stream of an answer begins. */
export const startOf = (heard: string) =>
  JSON.parse(/data: (.*)/.exec(heard)?.[1] ?? '{}') as {
    messageId: string;
    messageMetadata: { conversationId: string };
  };

/** The newest first. */
/** None yet where the view does not have a conversation that has just begun. */
export const messagesOf = async (conversationId: string): Promise<readonly Message[]> =>
  (await platform.call<{ items?: readonly Message[] }>(conversationPath(`/${conversationId}/messages`))).body.items ??
  [];

export const conversationOf = async (conversationId: string): Promise<Conversation> =>
  (await platform.call<Conversation>(conversationPath(`/${conversationId}`))).body;

export const remove = (conversationId: string, messageId: string, call: Partial<Call> = {}) =>
  platform.call(conversationPath(`/${conversationId}/messages/${messageId}`), { method: 'DELETE', ...call });

interface Receipt {
  readonly data: { readonly things: readonly string[]; readonly eventType: string; readonly stream: string };
}

/** The receipt of the erasure of a data key. */
export const receiptOf = async (key: string): Promise<Receipt | undefined> =>
  (
    await platform.call<{ items: readonly Receipt[] }>('/api/v1/audit/events?type=ContentErased&limit=100')
  ).body.items.find(({ data }) => data.things.includes(key));

export const erased = (key: string): Promise<void> =>
  until(async () => (await receiptOf(key)) !== undefined, `the receipt of ${key}`);

/** Which of these words stand in any file under `DATA_DIR`, in any case. */
export const onDisk = (...words: readonly string[]): readonly string[] => wordsUnder(platform.dataDir, words);

/** An upstream that says a text and is silent then, until `finish`. */
export const saysAndWaits = (text: string): { readonly finish: () => void } => {
  let finish = (): void => undefined;
  const told = new Promise<void>((resolve) => (finish = resolve));
  upstream.behaviour = async (response, { body }) => {
    const model = String(body['model']);
    events(response, chunk({ role: 'assistant', content: text }, null, model));
    await told;
    events(response, chunk({}, 'stop', model), DONE).end();
  };
  return { finish };
};

/** An upstream that says a text, streamed or not. */
export const says =
  (text: string): UpstreamDouble['behaviour'] =>
  (response, { body }) => {
    const model = String(body['model']);
    if (body['stream'] === true) {
      events(response, chunk({ role: 'assistant', content: text }, null, model), chunk({}, 'stop', model), DONE).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      }),
    );
  };

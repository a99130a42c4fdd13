import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { chunk, completion, DONE, events, json, startUpstreamDouble, usageChunk } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';
import { writeModelsFile } from '../fixtures/models-file';

/** Kill -9 while the summary of a conversation is made, before a question is answered. */
const KEY = 'compaction-test-key-0123456789-abcdefghijklmnop';
const EXCHANGES = 4;

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'compaction-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const call = async <T = Record<string, unknown>>({ url }: Child, path: string, body?: unknown): Promise<T> => {
  const response = await fetch(`${url}/api/v1/core/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${text}`);
  return JSON.parse(text) as T;
};

interface Turn {
  readonly conversationId: string;
  readonly message: { readonly id: string };
}
interface Messages {
  readonly items: readonly {
    readonly role: string;
    readonly status: string;
    readonly parts: readonly { readonly text?: string }[];
  }[];
}

test('a summary that was killed leaves the conversation as it was, and the next question has one made', async () => {
  const upstream = await startUpstreamDouble();
  let summaries = 0;
  upstream.behaviour = (response, { body }) => {
    if (JSON.stringify(body).includes('Summarise a conversation between')) {
      summaries += 1;
      // The first one never comes.
      return summaries === 1 ? undefined : json(response, 200, completion({ content: 'They spoke of zebras.' }, 'm'));
    }
    return events(response, chunk({ content: 'word '.repeat(100) }), chunk({}, 'stop'), usageChunk(), DONE).end();
  };
  const models = writeModelsFile(dataDir, upstream, [{ key: 'm', kind: 'chat', pricing: 'free' }], {
    defaultModel: 'm',
    titleModel: null,
  });
  const start = () =>
    startChild('apps/api/src/main.ts', {
      DATA_DIR: dataDir,
      PORT: '0',
      BOOTSTRAP_API_KEY: KEY,
      LOG_LEVEL: 'error',
      MODELS_FILE: models,
      CONVERSATION_CONTEXT_TOKENS: '1200',
    });
  let child = await start();
  try {
    const { id: agent } = await call<{ id: string }>(child, 'agents', { name: 'Guide', knowledgeEnabled: false });
    const path = `llm/${agent}/conversation`;
    const question = 'zebra '.repeat(100);
    let { conversationId } = await call<Turn>(child, path, { message: question });
    for (let made = 1; made < EXCHANGES; made += 1)
      ({ conversationId } = await call<Turn>(child, path, { conversationId, message: question }));
    expect(summaries).toBe(0);
    const lost = call<Turn>(child, path, { conversationId, message: question.repeat(5) }).catch(
      (error: Error) => error,
    );
    await until(async () => summaries === 1, 'the first summary');
    child.kill('SIGKILL');
    await child.exited;
    expect(await lost).toBeInstanceOf(Error);

    child = await start();
    const messages = async () => (await call<Messages>(child, `${path}/${conversationId}/messages?limit=50`)).items;
    const closed = async () => (await messages()).some(({ status }) => status === 'failed');
    await until(closed, 'the end of the lost answer');
    expect((await call<{ items: object[] }>(child, `${path}/${conversationId}/checkpoints`)).items).toEqual([]);
    expect(await messages()).toHaveLength(2 * EXCHANGES + 2);
    await call<Turn>(child, path, { conversationId, message: 'And now?' });
    expect(summaries).toBeGreaterThan(1);
    const { items } = await call<{ items: { summary: string }[] }>(child, `${path}/${conversationId}/checkpoints`);
    expect(items.map(({ summary }) => summary)).toEqual(['They spoke of zebras.']);
    expect(await messages()).toHaveLength(2 * EXCHANGES + 4);
  } finally {
    await child.stop();
    await upstream.stop();
  }
});

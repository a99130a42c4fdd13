import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { filesWhere } from '../fixtures/files-under';
import { until } from '../fixtures/until';
import { inRound, rounds, seededNumbers } from './log/rounds';

/** Kill -9 at a random moment between the deletion of messages and their receipts. */
const KEY = 'erasure-test-key-0123456789-abcdefghijklmnop';
const WORD = 'Quillbranth';
const number = seededNumbers();

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'message-erasure-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const start = () =>
  startChild('apps/api/src/main.ts', { DATA_DIR: dataDir, PORT: '0', BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'warn' });

const call = async <T = Record<string, unknown>>(
  { url }: Child,
  path: string,
  method = 'GET',
  body?: unknown,
): Promise<T> => {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
};

const filesWith = (word: string): readonly string[] => filesWhere(dataDir, (bytes) => bytes.includes(word));

interface Receipts {
  readonly items: readonly { readonly data: { readonly things: readonly string[] } }[];
}
interface Messages {
  readonly items: readonly { readonly id: string; readonly parts: readonly { readonly text?: string }[] }[];
}

test('a message whose erasure was killed is gone from every file after the next start, with one receipt', async () => {
  for (let round = 0; round < rounds(1); round += 1)
    await inRound(round, async () => {
      let child = await start();
      const { id: agent } = await call<{ id: string }>(child, 'core/agents', 'POST', {
        name: 'Guide',
        knowledgeEnabled: false,
      });
      const path = `core/llm/${agent}/conversation`;
      const { conversationId } = await call<{ conversationId: string }>(child, path, 'POST', {
        message: `What is ${WORD}?`,
      });
      await call(child, path, 'POST', { conversationId, message: 'What is kept?' });
      const messages = (await call<Messages>(child, `${path}/${conversationId}/messages`)).items;
      const [keptAnswer, kept, answer, question] = messages;
      expect(filesWith(WORD)).not.toEqual([]);
      const deleted = [question?.id, answer?.id].map(String);
      await Promise.all(deleted.map((id) => call(child, `${path}/${conversationId}/messages/${id}`, 'DELETE')));
      // The moment of the kill, drawn anew each time: no state is waited for.
      await new Promise((resolve) => setTimeout(resolve, number(100)));
      child.kill('SIGKILL');
      await child.exited;

      child = await start();
      const receipts = async () =>
        (await call<Receipts>(child, 'audit/events?type=ContentErased&limit=100')).items
          .flatMap(({ data }) => data.things)
          .filter((thing) => thing.startsWith(`conversation-${conversationId}`))
          .toSorted();
      const wanted = deleted.map((id) => `conversation-${conversationId}/${id}`).toSorted();
      await until(async () => (await receipts()).length >= wanted.length, 'the receipts');
      expect(await receipts()).toEqual(wanted);
      const left = (await call<Messages>(child, `${path}/${conversationId}/messages`)).items;
      expect(left.map(({ id }) => id)).toEqual([keptAnswer?.id, kept?.id]);
      expect(left[1]?.parts[0]?.text).toBe('What is kept?');
      if (!JSON.stringify(left).includes(WORD)) expect(filesWith(WORD)).toEqual([]);
      await child.stop();
    });
});

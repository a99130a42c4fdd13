import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { pngOf } from '../fixtures/images';
import { chunk, DONE, events, startUpstreamDouble, type UpstreamDouble, usageChunk } from '../fixtures/upstream-double';
import { slowest } from '../fixtures/slowest';
import { until } from '../fixtures/until';
import { inRound, rounds, seededNumbers } from './log/rounds';

/** Kill -9 while a file is uploaded, between that and its question, and between the question and the answer: what was taken is there, and no body is left that nothing names. */
const KEY = 'attachment-test-key-0123456789-abcdefghijklmnop';
const number = seededNumbers();

let folder: string;
let upstream: UpstreamDouble;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'attachment-kill-'));
  upstream = await startUpstreamDouble();
  const models = [{ key: 'chat', kind: 'chat', provider: 'acme', pricing: 'free', tags: ['vision'] }];
  const providers = { acme: { kind: 'openai', baseUrl: upstream.baseUrl } };
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ titleModel: null, providers, models }));
});
afterEach(async () => {
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** How far the clock of processes that are started is ahead of ours, milliseconds. */
let shiftMs = 0;
afterEach(() => (shiftMs = 0));
const start = () => {
  writeFileSync(join(folder, 'clock'), String(shiftMs));
  return startChild('apps/api/src/main.ts', {
    CLOCK_SHIFT: join(folder, 'clock'),
    NODE_OPTIONS: `--require ${join(__dirname, 'clock', 'shifted.cjs')}`,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'warn',
    MODELS_FILE: join(folder, 'models.json'),
  });
};
const request = async <T>({ url }: Child, path: string, method = 'GET', body?: object | FormData) => {
  const isForm = body instanceof FormData;
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { 'x-api-key': KEY, ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
};
const call = async <T>(...asked: Parameters<typeof request>): Promise<T> => {
  const { status, body } = await request<T>(...asked);
  if (status >= 300) throw new Error(`${asked[2] ?? 'GET'} ${asked[1]}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const upload = (child: Child, agent: string, bytes: Buffer, name: string) => {
  const form = new FormData();
  form.set('file', new Blob([Uint8Array.from(bytes)]), name);
  return request<{ id: string }>(child, `core/llm/${agent}/files`, 'POST', form);
};
const agentAt = async (child: Child): Promise<string> =>
  (await call<{ id: string }>(child, 'core/agents', 'POST', { name: 'Guide', model: 'chat', knowledgeEnabled: false }))
    .id;
const question = (fileId: string) => ({
  message: {
    parts: [
      { type: 'text', text: 'What is it?' },
      { type: 'file', fileId },
    ],
  },
});
const says = (text: string): void => {
  upstream.behaviour = (response) =>
    void events(response, chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), usageChunk(), DONE).end();
};
/** Bodies under the data folder. */
const bodies = (): readonly string[] =>
  readdirSync(join(folder, 'data', 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const killed = async (child: Child): Promise<Child> => {
  child.kill('SIGKILL');
  await child.exited;
  return start();
};
const erased = async (child: Child, fileId: string): Promise<boolean> =>
  JSON.stringify(await call(child, 'audit/events?type=ContentErased&limit=100')).includes(`attachment-${fileId}`);

test('what was uploaded is there after kill -9, before its question and before the answer, and its receipt comes', async () => {
  const image = pngOf(640, 480);
  let child = await start();
  const agent = await agentAt(child);
  const words = (await upload(child, agent, Buffer.from('The quarry of Umberholt.'), 'quarry.txt')).body.id;
  const picture = (await upload(child, agent, image, 'dot.png')).body.id;
  const stored = bodies().length;
  expect(stored).toBe(3);
  // Between upload and question.
  child = await killed(child);
  says('I see.');
  const conversation = await call<{ conversationId: string }>(
    child,
    `core/llm/${agent}/conversation`,
    'POST',
    question(words),
  );
  expect(JSON.stringify(upstream.calls.at(-1)?.body)).toContain('The quarry of Umberholt.');
  // Between question and answer.
  upstream.behaviour = (response) => void events(response, chunk({ content: 'Half an ' }));
  const { conversationId } = conversation;
  const path = `core/llm/${agent}/conversation/${conversationId}`;
  void request(child, `core/llm/${agent}/conversation`, 'POST', { conversationId, ...question(picture) }).catch(
    () => undefined,
  );
  interface Messages {
    readonly items: readonly { readonly id: string; readonly role: string; readonly status: string }[];
  }
  const messages = async () => (await call<Messages>(child, `${path}/messages`)).items;
  await until(async () => (await messages()).some(({ status }) => status === 'streaming'), 'the answer under way');
  child = await killed(child);
  await until(async () => (await messages())[0]?.status === 'failed', 'its end', { patience: 20_000 });
  says('A dot.');
  const [failed] = await messages();
  await call(child, `${path}/messages/${failed?.id}/regenerate`, 'POST', {});
  expect(JSON.stringify(upstream.calls.at(-1)?.body)).toContain(image.toString('base64'));
  expect(bodies()).toHaveLength(stored);

  await call(child, path, 'DELETE');
  // The policy that deletes the files had no time to.
  child = await killed(child);
  const slowestCall = slowest(() => erased(child, words));
  const startedAt = performance.now();
  await until(async () => (await erased(child, words)) && (await erased(child, picture)), 'the receipts', {
    patience: 20_000,
  });
  // On a busy machine each call takes long.
  expect(performance.now() - startedAt).toBeLessThan(10_000 + 10 * (await slowestCall()));
  await until(() => bodies().length === 0, 'the removal of the bodies');
  expect((await request(child, `core/llm/${agent}/files/${words}`)).status).toBe(404);
  await child.stop();
});

const DAY_MS = 24 * 60 * 60_000;

test('an upload that was killed is whole or not there, and leaves no body that nothing names', async () => {
  shiftMs = -3 * DAY_MS;
  let child = await start();
  const agent = await agentAt(child);
  const asked: { readonly conversationId: string; readonly image: Buffer }[] = [];
  for (let round = 0; round < rounds(4); round += 1)
    await inRound(round, async () => {
      const image = Buffer.concat([pngOf(640, 480), Buffer.alloc(3 * 1024 ** 2, `Umberholt${round}`)]);
      // It may be cut off by the kill: then nothing was answered.
      const uploading = upload(child, agent, image, 'large.png').catch(() => undefined);
      // The moment of the kill, drawn anew each time: no state is waited for.
      await new Promise((resolve) => setTimeout(resolve, number(round === 0 ? 1 : 900)));
      child = await killed(child);
      const answered = await uploading;
      if (answered === undefined) return;
      expect(answered.status).toBe(201);
      says('I see.');
      const { conversationId } = await call<{ conversationId: string }>(
        child,
        `core/llm/${agent}/conversation`,
        'POST',
        question(answered.body.id),
      );
      asked.push({ conversationId, image });
    });
  // Some days later: what no question named has expired, and what no event names is swept.
  shiftMs = 2 * DAY_MS;
  child = await killed(child);
  const swept = async () => (await request(child, 'operations/blobs/sweep', 'POST')).status === 200;
  await until(async () => (await swept()) && bodies().length === asked.length, 'the sweep', { patience: 30_000 });
  for (const { conversationId, image } of asked) {
    await call(child, `core/llm/${agent}/conversation`, 'POST', { conversationId, message: 'And now?' });
    expect(JSON.stringify(upstream.calls.at(-1)?.body)).toContain(image.toString('base64').slice(0, 100_000));
  }
  await child.stop();
}, 240_000);

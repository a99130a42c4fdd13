import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from '../e2e/child';
import { pngOf } from '../fixtures/images';
import { chunk, DONE, events, startUpstreamDouble, type UpstreamDouble, usageChunk } from '../fixtures/upstream-double';
import { slowest } from '../fixtures/slowest';
import { until } from '../fixtures/until';
import { writeModelsFile } from '../fixtures/models-file';
import { ask, call, killedProduct, receipts } from './killed-product';
import { inRound, rounds, seededNumbers } from './log/rounds';

/** Kill -9 while a file is uploaded, between that and its question, and between the question and the answer: what was taken is there, and no body is left that nothing names. */
const product = killedProduct('attachment-kill');
const number = seededNumbers();

let modelsFile: string;
let upstream: UpstreamDouble;
beforeEach(async () => {
  upstream = await startUpstreamDouble();
  const models = [{ key: 'chat', kind: 'chat', pricing: 'free', tags: ['vision'] }];
  modelsFile = writeModelsFile(product.folder(), upstream, models, { titleModel: null });
});
afterEach(() => upstream.stop());

/** How far the clock of processes that are started is ahead of ours, milliseconds. */
let shiftMs = 0;
afterEach(() => (shiftMs = 0));
const start = () => {
  const clock = join(product.folder(), 'clock');
  writeFileSync(clock, String(shiftMs));
  const shifted = join(__dirname, 'clock', 'shifted.cjs');
  return product.start({ CLOCK_SHIFT: clock, NODE_OPTIONS: `--require ${shifted}`, MODELS_FILE: modelsFile });
};
const upload = (child: Child, agent: string, bytes: Buffer, name: string) => {
  const form = new FormData();
  form.set('file', new Blob([Uint8Array.from(bytes)]), name);
  return ask<{ id: string }>(child, `core/llm/${agent}/files`, 'POST', form);
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
  readdirSync(join(product.dataDir(), 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const killed = async (child: Child): Promise<Child> => {
  child.kill('SIGKILL');
  await child.exited;
  return start();
};
const erased = async (child: Child, fileId: string): Promise<boolean> =>
  JSON.stringify(await receipts(child)).includes(`attachment-${fileId}`);

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
  void ask(child, `core/llm/${agent}/conversation`, 'POST', { conversationId, ...question(picture) }).catch(
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
  expect((await ask(child, `core/llm/${agent}/files/${words}`)).status).toBe(404);
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
  const swept = async () => (await ask(child, 'operations/blobs/sweep', 'POST')).status === 200;
  await until(async () => (await swept()) && bodies().length === asked.length, 'the sweep', { patience: 30_000 });
  for (const { conversationId, image } of asked) {
    await call(child, `core/llm/${agent}/conversation`, 'POST', { conversationId, message: 'And now?' });
    expect(JSON.stringify(upstream.calls.at(-1)?.body)).toContain(image.toString('base64').slice(0, 100_000));
  }
  await child.stop();
}, 240_000);

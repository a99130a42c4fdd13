import { once } from 'node:events';
import { request } from 'node:http';
import { type Child, startChild } from '../e2e/child';
import { EVER } from '../fixtures/ever';
import { generatingProvider, type Wanted } from '../fixtures/generating-provider';
import { until } from '../fixtures/until';
import { startUpstreamDouble } from '../fixtures/upstream-double';
import { writeModelsFile } from '../fixtures/models-file';
import { call, KEY, killedProduct } from './killed-product';

/** Fault 40: SIGTERM while streams are read and writes are sent. */
const STREAMS = 200;

const { dataDir, folder, start } = killedProduct('drain');

/** A write whose body is sent by hand: it runs, once this resolves, until `finish`. */
const slowWrite = async (child: Child, name: string) => {
  const body = JSON.stringify({ name, slug: name.toLowerCase() });
  const sent = request(`${child.url}/api/v1/core/spaces`, {
    method: 'POST',
    headers: {
      'x-api-key': KEY,
      'content-type': 'application/json',
      'content-length': String(body.length),
      expect: '100-continue',
    },
  });
  sent.flushHeaders();
  const status = new Promise<number>((resolve, reject) =>
    sent.once('response', (response) => resolve(response.resume().statusCode ?? 0)).once('error', reject),
  );
  await once(sent, 'continue');
  return { finish: () => sent.end(body), status };
};

const madeAgent = async (child: Child): Promise<string> =>
  (await call<{ id: string }>(child, 'core/agents', 'POST', { name: 'Guide', knowledgeEnabled: true })).id;

const status = async (child: Child, path: string): Promise<number> =>
  (await fetch(child.url + path, { headers: { 'x-api-key': KEY } })).status;

test('SIGTERM: not ready at once, streams end, running writes are answered and kept, exit 0', async () => {
  const child = await start();
  const agentId = await madeAgent(child);
  const followed = ['audit/events?follow=true', `core/knowledge/${agentId}/documents/events`];
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, (_, index) =>
      fetch(`${child.url}/api/v1/${followed[index % followed.length]}`, { headers: { 'x-api-key': KEY } }),
    ),
  );
  expect(streams.every((stream) => stream.status === 200)).toBe(true);
  const ended = Promise.all(streams.map((stream) => stream.text()));
  const write = await slowWrite(child, 'Kept');

  child.kill('SIGTERM');
  while ((await status(child, '/health/ready')) === 200);
  expect(await status(child, '/health/ready')).toBe(503);
  expect(await status(child, '/health/live')).toBe(200);
  expect(await status(child, '/api/v1/core/spaces')).toBe(503);
  expect((await ended).length).toBe(STREAMS);
  write.finish();
  expect(await write.status).toBe(201);
  expect(await child.exited).toBe(0);
  expect(child.output()).not.toContain('Request failed.');

  const again = await start();
  const spaces = await call<{ items: { name: string }[] }>(again, 'core/spaces');
  expect(spaces.items.map(({ name }) => name)).toContain('Kept');
  await again.stop();
});

test('calls that outlast a stop, and answers that were left before it, are billed what their providers made', async () => {
  const upstream = await startUpstreamDouble();
  const provider = generatingProvider({ tokensPerSecond: 100, noticeMs: 300 });
  upstream.behaviour = provider.behaviour;
  const file = writeModelsFile(folder(), upstream, [
    { key: 'm', kind: 'chat', pricing: { currency: 'USD', input: '1', output: '1' } },
  ]);
  const child = await start({ MODELS_FILE: file });
  const ask = async (wanted: Wanted, signal: AbortSignal | null = null) => {
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: JSON.stringify(wanted) }] };
    return fetch(`${child.url}/api/compat/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
  };
  const left = new AbortController();
  const ended = (await ask({ text: 10, usageAfter: 3_000 }, left.signal)).body as ReadableStream<Uint8Array>;
  const staying = await ask({ reasoning: 10_000 });
  const reader = ended.getReader();
  for (let heard = ''; !heard.includes('"finish_reason":"stop"');)
    heard += Buffer.from((await reader.read()).value ?? []).toString();
  left.abort();
  child.kill('SIGTERM');
  await expect(staying.text()).rejects.toThrow('terminated');
  expect(await child.exited).toBe(0);

  const again = await start({ MODELS_FILE: file });
  const recorded = async () =>
    (
      await call<{ items: { outcome: string; usageSource: string; usage: { outputTokens: number } }[] }>(
        again,
        `core/usage/invocations?${EVER}`,
      )
    ).items;
  await until(async () => (await recorded()).length >= 2, 'the view with both records');
  const items = await recorded();
  expect(items.map(({ outcome, usageSource }) => [outcome, usageSource])).toEqual([
    ['aborted', 'held'],
    ['aborted', 'upstream'],
  ]);
  await until(() => provider.bills.length === 2, 'the bills of the provider');
  expect(items[0]?.usage.outputTokens).toBeGreaterThanOrEqual(Math.max(...provider.bills.map(({ output }) => output)));
  expect(items[1]?.usage.outputTokens).toBe(10);
  await again.stop();
  await upstream.stop();
});

test('a second SIGTERM does not wait, once it cannot be the first that came twice', async () => {
  const child = await start();
  const write = await slowWrite(child, 'Lost');
  const rejected = write.status.catch(() => 'cut');
  child.kill('SIGTERM');
  let hasExited = false;
  const exited = child.exited.finally(() => (hasExited = true));
  const again = (): boolean => {
    if (!hasExited) child.kill('SIGTERM');
    return hasExited;
  };
  await until(again, 'the end', { every: 200 });
  expect(await exited).toBe(1);
  expect(await rejected).toBe('cut');
});

test('a wrong value of the configuration ends the start with a sentence that names it', async () => {
  await expect(
    startChild('apps/api/src/main.ts', { DATA_DIR: dataDir(), PORT: 'many', LOG_LEVEL: 'warn' }),
  ).rejects.toThrow(/ended with 1: PORT [^\n]*\.\n$/);
  await expect(startChild('apps/api/src/main.ts', { DATA_DIR: dataDir(), BOOTSTRAP_API_KEY: 'short' })).rejects.toThrow(
    /ended with 1: BOOTSTRAP_API_KEY [^\n]*\.\n$/,
  );
});

test('a second process on the same folder is rejected with a sentence', async () => {
  const child = await start();
  await expect(start()).rejects.toThrow(/ended with 1: the log in .* is in use/);
  await child.stop();
});

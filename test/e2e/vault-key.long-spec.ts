import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operate } from '../../apps/operator/src/program';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const rotate = async (dataDir: string, given: Readonly<Record<string, string>> = {}) => {
  const before = process.env;
  process.env = { ...before, ...given, DATA_DIR: dataDir };
  let text = '';
  const stream = { write: (line: string) => (text += line) };
  try {
    return { code: await operate(['rotate-vault-key'], { stdout: stream, stderr: stream }), text };
  } finally {
    process.env = before;
  }
};

const fill = async ({ call, newCaller }: TestPlatform) => {
  const { key } = await newCaller();
  const agent = (
    await call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      key,
      body: { name: 'Zanthoquill', knowledgeEnabled: true },
    })
  ).body.id;
  const path = `/api/v1/core/knowledge/${agent}/documents`;
  const document = (
    await call<{ id: string }>(path, {
      method: 'POST',
      key,
      body: { name: 'a.md', content: 'The ferry leaves at nine.', mimeType: 'text/markdown' },
    })
  ).body.id;
  await until(
    async () => (await call<{ status: string }>(`${path}/${document}`, { key })).body.status === 'Ready',
    'the document',
  );
  return { key, agent, content: `${path}/${document}/content` };
};

test('under a new VAULT_KEY content is read and API keys are taken as before; the old one opens nothing', async () => {
  const first = await startTestPlatform();
  const { key, agent, content } = await fill(first);
  expect(await rotate(first.dataDir)).toMatchObject({ code: 1, text: expect.stringContaining('in use') as string });
  await first.stop({ keep: true });
  const keyFile = join(first.dataDir, 'keys', 'VAULT_KEY');
  const old = readFileSync(keyFile, 'utf8');

  expect(await rotate(first.dataDir)).toMatchObject({
    code: 0,
    text: expect.stringMatching(/^Encrypted [\d,]+ data keys with a new VAULT_KEY/) as string,
  });
  expect(readFileSync(keyFile, 'utf8')).not.toBe(old);
  // Interrupted before the new key took its place.
  renameSync(keyFile, `${keyFile}.next`);
  writeFileSync(keyFile, old);
  expect(await rotate(first.dataDir)).toMatchObject({ code: 0 });

  for (const lost of ['views', 'search']) rmSync(join(first.dataDir, lost), { recursive: true });
  const second = await startTestPlatform({ dataDir: first.dataDir });
  for (const path of [`/api/v1/core/agents/${agent}`, content])
    await until(async () => (await second.call(path, { key })).status === 200, `the view behind ${path}`);
  expect((await second.call(`/api/v1/core/agents/${agent}`, { key })).body['name']).toBe('Zanthoquill');
  expect((await second.call<{ text: string }>(content, { key })).body.text).toBe('The ferry leaves at nine.');
  await second.stop({ keep: true });
  writeFileSync(keyFile, old);
  await expect(startTestPlatform({ dataDir: first.dataDir })).rejects.toThrow('VAULT_KEY is not the key that');
  rmSync(first.dataDir, { recursive: true });
});

test('a VAULT_KEY that an earlier rotation left in its file is not taken for a new one', async () => {
  const platform = await startTestPlatform();
  await platform.stop({ keep: true });
  const keys = join(platform.dataDir, 'keys');
  const keyIn = (name: string): string => readFileSync(join(keys, name), 'utf8').trim();
  const first = keyIn('VAULT_KEY');
  expect(await rotate(platform.dataDir, { VAULT_KEY: first })).toMatchObject({ code: 0 });
  const second = keyIn('VAULT_KEY.next');
  expect(await rotate(platform.dataDir, { VAULT_KEY: second })).toMatchObject({
    code: 1,
    text: expect.stringContaining('VAULT_KEY.next holds the VAULT_KEY in use, not a new one') as string,
  });
  rmSync(join(keys, 'VAULT_KEY.next'));
  expect(await rotate(platform.dataDir, { VAULT_KEY: second })).toMatchObject({ code: 0 });
  expect([first, second]).not.toContain(keyIn('VAULT_KEY.next'));
  rmSync(platform.dataDir, { recursive: true });
});

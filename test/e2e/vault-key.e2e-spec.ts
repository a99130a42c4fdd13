import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operate } from '../../apps/operator/src/program';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const rotate = async (dataDir: string) => {
  const before = process.env;
  process.env = { ...before, DATA_DIR: dataDir };
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

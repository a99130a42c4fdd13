import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeLogger } from '@app/http';
import { filesUnder, filesWhere, wordsUnder } from '../fixtures/files-under';
import { until } from '../fixtures/until';
import { json, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';
import { makeWorld } from './world';

/** Where secrets and content may not stand: files, events, metrics, logs and answers. */

const PROVIDER_KEY = 'sk-provider-secret-of-the-sweep';
const VAULT_KEY = 'the vault key of the sweep, which is not written';
const SEAL_KEY = 'the seal key of the sweep, which is not written';
const METRICS_TOKEN = 'metrics-token-of-the-sweep-0123456789';
/** Words of people, one for each kind of content. */
const CONTENT = {
  name: 'Quillbranth',
  mail: 'jossabrand',
  prompt: 'Ombrelithic',
  library: 'Vexolumir',
  document: 'Zanthoquill',
  passage: 'Yttermarsh',
  message: 'Kelvorindane',
  tag: 'Wexholmberg',
} as const;

const lines: string[] = [];
let folder: string;
let upstream: UpstreamDouble;
let platform: TestPlatform;
let secrets: readonly string[];
let told: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  upstream = await startUpstreamDouble();
  const file = join(folder, 'models.json');
  writeFileSync(
    file,
    JSON.stringify({
      titleModel: null,
      providers: { acme: { kind: 'openai', baseUrl: upstream.baseUrl, apiKeyEnv: 'ACME_KEY' } },
      models: [{ key: 'm', provider: 'acme', kind: 'chat', pricing: 'free' }],
    }),
  );
  const environment = { MODELS_FILE: file, ACME_KEY: PROVIDER_KEY, VAULT_KEY, SEAL_KEY, METRICS_TOKEN };
  platform = await startTestPlatform({
    environment,
    logger: makeLogger('trace', { write: (line) => void lines.push(line) }),
  });
  const answers: string[] = [];
  const call = async <T = { id: string; secret: string }>(
    path: string,
    method: 'GET' | 'POST' | 'PUT' = 'GET',
    body?: object,
    key = ADMIN_KEY,
    headers = {},
  ) => {
    const answer = await platform.call<T>(path, { method, key, headers, ...(body === undefined ? {} : { body }) });
    answers.push(answer.text);
    return answer.body;
  };
  const core = (path: string): string => `/api/v1/core${path}`;
  await makeWorld(platform);
  const space = await call(core('/spaces'), 'POST', { name: CONTENT.name, description: CONTENT.name });
  await call(core(`/spaces/${space.id}/prompts`), 'POST', { title: CONTENT.library, text: CONTENT.library });
  const agent = await call(core('/agents'), 'POST', {
    spaceId: space.id,
    name: CONTENT.name,
    model: 'm',
    systemPrompt: CONTENT.prompt,
    knowledgeEnabled: true,
  });
  await call(core(`/knowledge/${agent.id}/tags`), 'POST', { name: CONTENT.tag });
  const document = await call(core(`/knowledge/${agent.id}/documents`), 'POST', {
    name: CONTENT.document,
    content: `The ferry to ${CONTENT.passage} leaves.`,
    mimeType: 'text/plain',
  });
  await until(
    async () =>
      (await platform.call<{ status: string }>(core(`/knowledge/${agent.id}/documents/${document.id}`))).body.status ===
      'Ready',
    'the document',
  );
  await call(core('/users'), 'POST', { email: `${CONTENT.mail}@example.com`, name: CONTENT.name, role: 'member' });
  await call(core(`/llm/${agent.id}/conversation`), 'POST', { message: CONTENT.message });
  upstream.behaviour = (response) => json(response, 401, { error: { message: `Bad key ${PROVIDER_KEY}` } });
  await call(core(`/llm/${agent.id}/conversation`), 'POST', { message: CONTENT.message });
  await call('/api/compat/v1/chat/completions', 'POST', {
    model: 'm',
    messages: [{ role: 'user', content: CONTENT.message }],
  });

  // Shown once, each: what was answered then is left out of what is searched.
  const made = await platform.call<{ id: string; secret: string }>(core('/api-keys'), {
    method: 'POST',
    headers: { 'idempotency-key': 'made' },
    body: { name: 'k', agentIds: [], allAgents: true, permissions: ['llm', 'compat'] },
  });
  await call(
    core('/api-keys'),
    'POST',
    { name: 'k', agentIds: [], allAgents: true, permissions: ['llm', 'compat'] },
    ADMIN_KEY,
    { 'idempotency-key': 'made' },
  );
  await call(core('/users/me'), 'GET', undefined, made.body.secret);
  await call(core(`/api-keys/${made.body.id}`), 'PUT', { name: 'other' });
  for (const wrong of [made.body.secret.slice(0, -1), PROVIDER_KEY])
    await call(core('/users/me'), 'GET', undefined, wrong);
  for (const path of [
    core('/api-keys'),
    core(`/api-keys/${made.body.id}`),
    '/health',
    '/metrics',
    '/api/v1/operations/projections',
    '/openapi.json',
    `/api/v1/audit/objects/apiKey/${made.body.id}`,
    `/api/v1/audit/objects/apiKey/${made.body.id}/history`,
  ])
    await call(path);
  for (const query of [
    '?limit=100&content=true&raw=true',
    '?category=apiKey&content=true&raw=true',
    '?category=model&content=true',
  ])
    await call(`/api/v1/audit/events${query}`);
  secrets = [ADMIN_KEY, made.body.secret, PROVIDER_KEY, VAULT_KEY, SEAL_KEY, METRICS_TOKEN];
  told = answers.join('\n');
});
afterAll(async () => {
  await platform.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true });
});

/** As it is, and as it would stand in base64. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  ...[0, 1, 2].map((shift) =>
    Buffer.from('\0'.repeat(shift) + secret)
      .toString('base64')
      .slice(4, -4),
  ),
];
/** Files in which it stands in any form. */
const filesWith = (folder: string, secret: string): readonly string[] =>
  filesWhere(folder, (bytes) => formsOf(secret).some((form) => bytes.includes(form)));

it('no secret stands in any file, as it is or in base64', () => {
  expect(wordsUnder(platform.dataDir, [CONTENT.name])).toEqual([CONTENT.name]);
  expect(secrets.flatMap((secret) => filesWith(platform.dataDir, secret).map((path) => [path, secret]))).toEqual([]);
});

it('no secret stands in an answer, a log line or a metric, whoever asks and whatever for', () => {
  const logged = lines.join('');
  expect(logged).toContain('/api/v1/core/api-keys');
  expect(told).toContain('"secretHash":{"encrypted":true}');
  for (const secret of secrets)
    expect([secret, told.includes(secret), logged.includes(secret)]).toEqual([secret, false, false]);
});

it('no content stands in the log or in a blob: neither names, mail addresses, prompts nor what is said', () => {
  for (const below of ['log', 'blobs', 'vault']) {
    const folder = join(platform.dataDir, below);
    expect(filesUnder(folder).length).toBeGreaterThan(0);
    expect(Object.values(CONTENT).filter((word) => filesWith(folder, word).length > 0)).toEqual([]);
  }
  const shown = ['views', 'search'].flatMap((view) => wordsUnder(join(platform.dataDir, view), Object.values(CONTENT)));
  expect(Object.values(CONTENT).filter((word) => !shown.includes(word))).toEqual([]);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { behaves, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

export const PROVIDER_KEY = 'sk-provider-secret';
export const BASE = '/api/compat/v1';
const folder = mkdtempSync(join(tmpdir(), 'compat-'));
export const file = join(folder, 'models.json');
export let upstream: UpstreamDouble;
export let platform: TestPlatform;
export let client: OpenAI;
export const messages = [{ role: 'user' as const, content: 'Hello?' }];
export const tools = ['weather', 'clock'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: {} } },
}));

export const post = <Body = { error: Record<string, unknown> }>(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) => platform.call<Body>(`${BASE}${path}`, { method: 'POST', body, headers });

export const sent = () => upstream.calls[0]?.body as Record<string, unknown>;

/** Starts a gateway over a double of a provider. */
export const withGateway = (): void => {
  beforeAll(async () => {
    upstream = await startUpstreamDouble();
    const pricing = { currency: 'USD', input: '1', output: '2' };
    const models = [
      { key: 'big', modelId: 'acme-big', provider: 'acme', kind: 'chat', pricing },
      { key: 'strict', provider: 'strict', kind: 'chat', pricing },
      { key: 'org/same', provider: 'acme', kind: 'chat', maxTokensField: 'max_tokens', pricing },
      { key: 'vectors', provider: 'acme', kind: 'embedding', pricing },
      { key: 'ranks', provider: 'acme', kind: 'reranker', pricing },
    ];
    const providers = {
      acme: {
        kind: 'openai',
        baseUrl: upstream.baseUrl,
        apiKeyEnv: 'ACME_KEY',
        forward: ['top_k', 'input_type', 'dimensions', 'constructor'],
      },
      strict: { kind: 'openai', baseUrl: upstream.baseUrl, streamOptions: false },
    };
    writeFileSync(file, JSON.stringify({ rerankerModel: 'ranks', providers, models }));
    platform = await startTestPlatform({ listen: true, environment: { MODELS_FILE: file, ACME_KEY: PROVIDER_KEY } });
    client = new OpenAI({ apiKey: ADMIN_KEY, baseURL: `${platform.url}${BASE}` });
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

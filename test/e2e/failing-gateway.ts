import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeLogger } from '@app/http';
import OpenAI from 'openai';
import { behaves, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

export const PROVIDER_KEY = 'sk-provider-secret';
export const BASE = '/api/compat/v1';
const folder = mkdtempSync(join(tmpdir(), 'compat-'));
export const lines: string[] = [];
export let upstream: UpstreamDouble;
export let platform: TestPlatform;
export let client: OpenAI;
export const LEAK = {
  error: {
    message: `Bad key ${PROVIDER_KEY} at http://internal.host/v1`,
    type: 'x',
    param: 'http://internal.host',
    code: 401,
  },
};

export const secrets = new RegExp(`${PROVIDER_KEY}|internal\\.host|acme-big|127\\.0\\.0\\.1:|    at |undici|UND_ERR`);
export const ask = async (body: object, path = '/chat/completions', signal?: AbortSignal) => {
  const response = await fetch(`${platform.url}${BASE}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

export const errorOf = (text: string) => (JSON.parse(text) as { error: object }).error;
export const dataOf = (text: string) =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => event.slice(6));

/** Starts a gateway over providers that fail as told. */
export const withFailingGateway = (): void => {
  beforeAll(async () => {
    upstream = await startUpstreamDouble();
    const file = join(folder, 'models.json');
    const provider = { kind: 'openai', baseUrl: upstream.baseUrl, apiKeyEnv: 'ACME_KEY' };
    const models = [
      { key: 'm', modelId: 'acme-big', provider: 'acme', kind: 'chat', pricing: 'free', contextWindow: 1_000 },
      { key: 'vectors', provider: 'acme', kind: 'embedding', pricing: 'free' },
      { key: 'ranks', provider: 'acme', kind: 'reranker', pricing: 'free' },
      { key: 'away', provider: 'away', kind: 'chat', pricing: 'free' },
      { key: 'saved', provider: 'away', kind: 'chat', pricing: 'free', fallback: 'm' },
      { key: 'doubted', provider: 'acme', kind: 'chat', pricing: 'free', fallback: 'm' },
      { key: 'hasty', modelId: 'acme-big', provider: 'hasty', kind: 'chat', pricing: 'free' },
      { key: 'deployed', provider: 'azure', kind: 'chat', pricing: 'free' },
    ];
    const azure = {
      ...provider,
      kind: 'azure',
      baseUrl: upstream.baseUrl.replace('/v1', ''),
      apiVersion: '2026-01-01',
    };
    writeFileSync(
      file,
      JSON.stringify({
        rerankerModel: 'ranks',
        providers: {
          acme: provider,
          away: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' },
          azure,
          hasty: { ...provider, timeoutMs: 1_500 },
        },
        models,
      }),
    );
    platform = await startTestPlatform({
      listen: true,
      environment: { MODELS_FILE: file, ACME_KEY: PROVIDER_KEY },
      logger: makeLogger('debug', { write: (line) => void lines.push(line) }),
    });
    client = new OpenAI({ apiKey: ADMIN_KEY, baseURL: `${platform.url}${BASE}`, maxRetries: 0 });
  });
  afterAll(async () => {
    await platform.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    upstream.behaviour = behaves;
    // A success between failures: the circuit stays closed.
    await ask({});
    upstream.calls.length = 0;
    upstream.cuts.length = 0;
  });
};

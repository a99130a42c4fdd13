import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeLogger } from '@app/http';
import { behaves, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';
import { writeModelsFile } from '../fixtures/models-file';

export const BASE = '/api/compat/v1';
const folder = mkdtempSync(join(tmpdir(), 'compat-'));
export const lines: string[] = [];
export let upstream: UpstreamDouble;
export let platform: TestPlatform;
export const messages = [{ role: 'user', content: 'Hi' }];
export const ask = async (body: object, path = '/chat/completions') => {
  const response = await fetch(`${platform.url}${BASE}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages, ...body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

/** Starts a gateway and keeps the lines of its log. */
export const withHostileGateway = (): void => {
  beforeAll(async () => {
    upstream = await startUpstreamDouble();
    const models = [
      ['m', 'chat'],
      ['vectors', 'embedding'],
      ['ranks', 'reranker'],
    ].map(([key, kind]) => ({ key, kind, pricing: 'free' }));
    const file = writeModelsFile(folder, upstream, models, { rerankerModel: 'ranks' });
    platform = await startTestPlatform({
      listen: true,
      environment: { MODELS_FILE: file },
      logger: makeLogger('info', { write: (line) => void lines.push(line) }),
    });
  });
  afterAll(async () => {
    await platform.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    upstream.behaviour = behaves;
    upstream.calls.length = 0;
    upstream.cuts.length = 0;
    lines.length = 0;
  });
};

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { until } from '../fixtures/until';
import { behaves, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';
import { writeModelsFile } from '../fixtures/models-file';

export const CORE = '/api/v1/core';
export const LIMITS = `${CORE}/cost-control`;
/** (15 x 1 + 4 x 0.1 + 10 x 2) / 1,000,000: what every call of the double costs. */
export const COST = 0.0000354;
export interface Limit {
  readonly id: string;
  readonly spent: string;
  readonly held: string;
  readonly remaining: string;
}

const folder = mkdtempSync(join(tmpdir(), 'cost-control-'));
export let upstream: UpstreamDouble;
export let platform: TestPlatform;
export const client = (key = ADMIN_KEY) => new OpenAI({ baseURL: `${platform.url}/api/compat/v1`, apiKey: key });
export const chat = (key?: string, maxTokens = 10) =>
  client(key).chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'Hello?' }],
    max_completion_tokens: maxTokens,
  });

export const set = async (body: object, key = ADMIN_KEY) => platform.call<Limit>(LIMITS, { method: 'POST', body, key });
export const state = async (id: string) => (await platform.call<Limit>(`${LIMITS}/${id}`)).body;
export const settled = (id: string, calls: number) =>
  until(async () => Number((await state(id)).spent).toFixed(9) === (calls * COST).toFixed(9), 'the settlement');

/** Starts a platform with a gateway whose calls cost. */
export const withLimits = (): void => {
  beforeAll(async () => {
    upstream = await startUpstreamDouble();
    const models = [{ key: 'm', kind: 'chat', pricing: { currency: 'USD', input: '1', output: '2' } }];
    const file = writeModelsFile(folder, upstream, models, { defaultModel: 'm', titleModel: null });
    platform = await startTestPlatform({
      listen: true,
      environment: { MODELS_FILE: file, DEFAULT_TIME_ZONE: 'Europe/Berlin' },
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
  });
};

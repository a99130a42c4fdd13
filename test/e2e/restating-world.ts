import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idNumbered, invocation, recordInvocations } from '../fixtures/invocations';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

export const OPERATIONS = '/api/v1/operations/usage';
export const NOVEMBER = { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' };
export const KEY = idNumbered(7);
const folder = mkdtempSync(join(tmpdir(), 'restating-'));
const modelsFile = join(folder, 'models.json');
export let platform: TestPlatform;
export let operator: string;
export let operatorId: string;
export let between: string;
const write = (input: string): void =>
  writeFileSync(
    modelsFile,
    JSON.stringify({
      providers: { far: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } },
      models: [{ key: 'm1', provider: 'far', kind: 'chat', pricing: { currency: 'USD', input, output: '0' } }],
    }),
  );

/** Starts a platform with recorded calls and changed prices. */
export const withInvocations = (): void => {
  beforeAll(async () => {
    write('10');
    platform = await startTestPlatform({ listen: true, environment: { MODELS_FILE: modelsFile } });
    ({ key: operator, keyId: operatorId } = await platform.newCaller({
      role: 'operator',
      permissions: ['operations'],
      allAgents: false,
    }));
    between = new Date().toISOString();
    await until(() => new Date().toISOString() > between, 'a later time');
    write('4');
    expect((await platform.call('/api/v1/operations/models/reload', { method: 'POST', key: operator })).status).toBe(
      200,
    );
    const tokens = { inputTokens: 1_000_000, cacheReadTokens: 0, outputTokens: 0 };
    await recordInvocations(platform.platform, [
      ...Array.from({ length: 600 }, (_, index) =>
        invocation(1_000 + index, { ...tokens, at: '2026-11-10T00:00:00.000Z', cost: '10000000000', apiKeyId: KEY }),
      ),
      invocation(2_000, { ...tokens, at: '2026-11-11T00:00:00.000Z', cost: '10000000000' }),
      invocation(2_001, { at: '2026-11-12T00:00:00.000Z', model: 'unknown', cost: '5' }),
      invocation(2_002, { ...tokens, at: '2026-10-31T23:59:59.999Z' }),
      invocation(2_003, { ...tokens, at: '2026-11-13T00:00:00.000Z', currency: 'EUR' }),
    ]);
  });
  afterAll(async () => {
    await platform.stop();
    rmSync(folder, { recursive: true });
  });
};

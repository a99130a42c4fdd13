import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CallToMeter, METERING, type Metering, type Settlement } from '@app/spending';
import { behaves, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

export const BASE = '/api/compat/v1';
const folder = mkdtempSync(join(tmpdir(), 'compat-'));
export const begun: CallToMeter[] = [];
export const settled: Settlement[] = [];
export let upstream: UpstreamDouble;
export let platform: TestPlatform;
export let begin: jest.SpiedFunction<Metering['begin']>;
export const messages = [{ role: 'user', content: 'Hello?' }];
export const post = (path: string, body: object, signal?: AbortSignal) =>
  fetch(`${platform.url}${BASE}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', ...body }),
    ...(signal === undefined ? {} : { signal }),
  });

/** Starts a gateway whose metering is watched. */
export const withMeteredGateway = (): void => {
  beforeAll(async () => {
    upstream = await startUpstreamDouble();
    const file = join(folder, 'models.json');
    const model = { provider: 'acme', pricing: 'free' };
    const models = [
      { ...model, key: 'm', kind: 'chat' },
      { ...model, key: 'away', provider: 'away', kind: 'chat', fallback: 'm' },
      { ...model, key: 'narrow', kind: 'chat', contextWindow: 100, fallback: 'm' },
      { ...model, key: 'hasty', provider: 'hasty', kind: 'chat' },
      { ...model, key: 'vectors', kind: 'embedding' },
      { ...model, key: 'late-vectors', provider: 'hasty', kind: 'embedding', fallback: 'vectors' },
      { ...model, key: 'ranks', kind: 'reranker' },
    ];
    writeFileSync(
      file,
      JSON.stringify({
        rerankerModel: 'ranks',
        providers: {
          acme: { kind: 'openai', baseUrl: upstream.baseUrl },
          hasty: { kind: 'openai', baseUrl: upstream.baseUrl, timeoutMs: 1_000 },
          away: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' },
        },
        models,
      }),
    );
    platform = await startTestPlatform({
      listen: true,
      environment: { MODELS_FILE: file, COMPAT_DROP_UNSUPPORTED: 'true' },
    });
    const metering = platform.platform.app.get<Metering>(METERING);
    const real = metering.begin.bind(metering);
    begin = jest.spyOn(metering, 'begin').mockImplementation(async (call) => {
      begun.push(call);
      const metered = await real(call);
      return {
        ...metered,
        settle: (settlement) => {
          settled.push(settlement);
          return metered.settle(settlement);
        },
      };
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
    begun.length = 0;
    settled.length = 0;
  });
};

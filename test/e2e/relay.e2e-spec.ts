import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

interface Health {
  readonly status: string;
  readonly dependencies: Readonly<Record<string, { readonly ok: boolean; readonly reason?: string }>>;
  readonly policies: readonly {
    readonly name: string;
    readonly position: string | null;
    readonly failure?: { readonly detail: string };
  }[];
}

/** Fault 28, as those who use the API see it. */
describe('while no broker answers', () => {
  let platform: TestPlatform;

  beforeAll(async () => {
    platform = await startTestPlatform({
      environment: {
        KAFKA_BROKERS: '127.0.0.1:1',
        KAFKA_SASL_MECHANISM: 'plain',
        KAFKA_SASL_USERNAME: 'relay',
        KAFKA_SASL_PASSWORD: 'a-secret-word',
      },
    });
  });
  afterAll(() => platform.stop());

  const health = () => platform.call<Health>('/health');
  const relay = async () => (await health()).body.policies.find(({ name }) => name === 'relay');

  it('the API goes on, health says what is wrong, and the numbers tell it', async () => {
    expect((await platform.call('/health/ready')).status).toBe(200);
    for (let count = 0; count < 20; count += 1) expect((await platform.newCaller()).key).not.toBe('');
    await until(async () => (await relay())?.failure !== undefined, 'a batch fails');
    const { status, body, text } = await health();
    expect(status).toBe(200);
    expect(body.status).toBe('degraded');
    expect(body.dependencies['kafka']).toEqual({ ok: false, reason: expect.any(String) as string });
    expect(await relay()).toMatchObject({
      position: null,
      failure: { detail: expect.stringMatching(/ECONN|Connection/) as string },
    });
    expect(text).not.toContain('a-secret-word');
    const metrics = (await platform.call('/metrics')).text;
    expect(metrics).toMatch(/relay_messages\{outcome="failures"\} [1-9]/);
    expect(metrics).toContain('relay_messages{outcome="published"} 0');
    expect(metrics).toContain('policy_lag_seconds{policy="relay"}');
  });

  it('a key that is revoked is rejected at the next request', async () => {
    const { key, keyId } = await platform.newCaller();
    const status = async () => (await platform.call('/api/v1/core/users/me', { key })).status;
    expect(await status()).toBe(200);
    expect((await platform.call(`/api/v1/core/api-keys/${keyId}`, { method: 'DELETE' })).status).toBe(204);
    expect(await status()).toBe(401);
  });
});

describe('without brokers', () => {
  it('nothing is relayed, and nothing is said of it', async () => {
    const platform = await startTestPlatform();
    const { body, text } = await platform.call<Health>('/health');
    expect(body.policies.length).toBeGreaterThan(0);
    expect(text).not.toMatch(/kafka|relay/);
    await platform.stop();
  });
});

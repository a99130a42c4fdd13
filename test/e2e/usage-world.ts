import { idNumbered, invocation, recordInvocations } from '../fixtures/invocations';
import { type Answer, startTestPlatform, type TestPlatform } from './harness';

export const AGENT = idNumbered(900);
export let platform: TestPlatform;
export let one: { userId: string; keyId: string; key: string };
export let other: { userId: string; keyId: string; key: string };
export const MARCH = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00%2B02:00';
export const ask = <T>(path: string, key?: string, headers = {}): Promise<Answer<T>> =>
  platform.call<T>(`/api/v1/core/usage${path}`, { headers, ...(key === undefined ? {} : { key }) });

/** Starts a platform on which two users have called models. */
export const withUsage = (): void => {
  beforeAll(async () => {
    platform = await startTestPlatform({ environment: { DEFAULT_TIME_ZONE: 'Europe/Berlin' } });
    one = await platform.newCaller();
    other = await platform.newCaller();
    const of = ({ userId, keyId: apiKeyId }: typeof one) => ({ userId, apiKeyId });
    await recordInvocations(platform.platform, [
      invocation(1, { ...of(one), at: '2026-03-28T22:59:59.999Z', cost: '1000000000' }),
      invocation(2, {
        ...of(one),
        at: '2026-03-28T23:00:00.000Z',
        cost: '20000000',
        model: '=m2',
        agentId: AGENT,
        spaceId: AGENT,
        isIncludedUsage: true,
      }),
      invocation(3, {
        ...of(other),
        at: '2026-03-29T12:00:00.000Z',
        cost: '3',
        apiKeyId: null,
        inputTokens: 100,
        cacheReadTokens: 40,
        cacheWriteTokens: 10,
        outputTokens: 9,
        reasoningTokens: 4,
      }),
    ]);
  });
  afterAll(() => platform.stop());
};

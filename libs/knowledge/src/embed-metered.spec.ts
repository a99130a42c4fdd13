import { type EmbeddingProvider, type ModelDescription, OutputRates, UpstreamFailure, usageOf } from '@app/models';
import type { CallToMeter, Metering, Settlement } from '@app/spending';
import { unmetered } from '../../../test/fixtures/scripted-turns';
import { TEST_MODEL } from '../../../test/fixtures/spending';
import { embedMetered } from './embed-metered';

const model: ModelDescription = { ...TEST_MODEL, kind: 'embedding' };
const fallback: ModelDescription = { ...model, key: 'fallback' };
const payer = { userId: 'u', keyId: 'k', agentId: 'a', spaceId: 's' };
const begun: CallToMeter[] = [];
const settled: Settlement[] = [];
let cancelled = 0;
beforeEach(() => void (begun.length = settled.length = cancelled = 0));

const metering: Metering = {
  begin: async (call) => {
    begun.push(call);
    return {
      ...(await unmetered.begin(call)),
      cancel: () => void (cancelled += 1),
      settle: async (settlement) => void settled.push(settlement),
    };
  },
};
/** The model that a call goes to was found before. */
const embedding = (): never => {
  throw new Error('asked for again');
};
const parts = { metering, models: { rates: new OutputRates(), embedding } };
const embed = (provider: EmbeddingProvider, { holds = true, signal = new AbortController().signal } = {}) =>
  embedMetered(
    parts,
    { model, provider: { ...provider, mayAnswer: () => [model, fallback] } },
    { payer, holds, texts: ['eight ch', 'four'], purpose: 'query', signal },
  );
const said = () => settled.map(({ usage, usageSource, outcome }) => [usage.inputTokens, usageSource, outcome]);

describe('a call of the embedding model', () => {
  it.each([
    ['as the provider reports it', { usage: usageOf({ input: 9 }) }, [9, 'upstream', 'ok']],
    ['as it is counted here where the provider says nothing that can be', {}, [3, 'counted', 'ok']],
  ])('is settled once, %s', async (_, used, expected) => {
    const vectors = [Float32Array.of(1), Float32Array.of(1)];
    expect(await embed({ embed: async () => ({ model: fallback, vectors, ...used }) })).toBe(vectors);
    expect(begun).toEqual([
      {
        ...payer,
        kind: 'embedding',
        model,
        mayAnswer: [model, fallback],
        estimate: usageOf({ input: 3 }),
        mostInput: 12,
      },
    ]);
    expect(said()).toEqual([expected]);
    expect(settled[0]?.model).toBe(fallback);
  });

  it('holds nothing where what it belongs to is held', async () => {
    await embed({ embed: async () => ({ model, vectors: [] }) }, { holds: false });
    expect(begun.map(({ estimate }) => estimate)).toEqual([usageOf({})]);
    expect(said()).toEqual([[3, 'counted', 'ok']]);
  });

  it('costs nothing when it fails, and its input when its caller leaves', async () => {
    await expect(embed({ embed: () => Promise.reject(new Error('failed')) })).rejects.toThrow('failed');
    const left = new AbortController();
    const provider: EmbeddingProvider = {
      embed: async () => {
        left.abort(new Error('left'));
        throw left.signal.reason;
      },
    };
    await expect(embed(provider, { signal: left.signal })).rejects.toThrow('left');
    expect(said()).toEqual([
      [0, 'counted', 'failed'],
      [3, 'counted', 'aborted'],
    ]);
  });

  it('costs its input where its provider was at work on it, and is rejected under the code of that', async () => {
    const work = { model: fallback, ms: 1_000 };
    const failing = (failure: UpstreamFailure) => embed({ embed: () => Promise.reject(failure) });
    await expect(failing(new UpstreamFailure('timeout', { work }))).rejects.toMatchObject({ code: 'upstream_timeout' });
    await expect(failing(new UpstreamFailure('open', { retryAfterSeconds: 5 }))).rejects.toMatchObject({
      name: 'DomainError',
      code: 'upstream_error',
      facts: { retryAfterSeconds: 5 },
    });
    expect(said()).toEqual([
      [3, 'counted', 'failed'],
      [0, 'counted', 'failed'],
    ]);
    expect(settled[0]?.model).toBe(fallback);
  });

  it('is held and billed anew for each try that its provider broke off', async () => {
    const provider: EmbeddingProvider = {
      embed: async ({ onBrokenOff }) => {
        await onBrokenOff?.(new UpstreamFailure('broken', { work: { model, ms: 1_000 } }));
        return { model: fallback, vectors: [], usage: usageOf({ input: 4 }) };
      },
    };
    await embed(provider);
    expect(begun).toHaveLength(2);
    expect(said()).toEqual([
      [3, 'counted', 'failed'],
      [4, 'upstream', 'ok'],
    ]);
    expect(settled.map((settlement) => settlement.model)).toEqual([model, fallback]);
  });

  it('is none where its caller has left before', async () => {
    const unasked: EmbeddingProvider = { embed: jest.fn() };
    await expect(embed(unasked, { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow('left');
    expect(unasked.embed).not.toHaveBeenCalled();
    expect([cancelled, settled]).toEqual([1, []]);
  });
});

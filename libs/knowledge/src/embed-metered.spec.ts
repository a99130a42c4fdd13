import { type EmbeddingProvider, type ModelDescription, usageOf } from '@app/models';
import type { CallToMeter, Metering, Settlement } from '@app/spending';
import { unmetered } from '../../../test/fixtures/scripted-turns';
import { TEST_MODEL } from '../../../test/fixtures/spending';
import { embedMetered } from './embed-metered';

const model: ModelDescription = { ...TEST_MODEL, kind: 'embedding' };
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
const embed = (provider: EmbeddingProvider, { holds = true, signal = new AbortController().signal } = {}) =>
  embedMetered(metering, { model, provider }, { payer, holds, texts: ['eight ch', 'four'], purpose: 'query', signal });
const said = () => settled.map(({ usage, usageSource, outcome }) => [usage.inputTokens, usageSource, outcome]);

describe('a call of the embedding model', () => {
  it.each([
    ['as the provider reports it', { prompt_tokens: 9, total_tokens: 9 }, [9, 'upstream', 'ok']],
    ['as it is counted here where the provider says nothing', undefined, [3, 'counted', 'ok']],
    ['as it is counted here where the provider says what cannot be', { prompt_tokens: -9 }, [3, 'counted', 'ok']],
  ])('is settled once, %s', async (_, report, expected) => {
    const vectors = [Float32Array.of(1), Float32Array.of(1)];
    expect(await embed({ embed: async () => ({ vectors, report }) })).toBe(vectors);
    expect(begun).toEqual([{ ...payer, kind: 'embedding', model, estimate: usageOf({ input: 3 }), mostInput: 12 }]);
    expect(said()).toEqual([expected]);
  });

  it('holds nothing where what it belongs to is held', async () => {
    await embed({ embed: async () => ({ vectors: [] }) }, { holds: false });
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

  it('is none where its caller has left before', async () => {
    const embedding: EmbeddingProvider = { embed: jest.fn() };
    await expect(embed(embedding, { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow('left');
    expect(embedding.embed).not.toHaveBeenCalled();
    expect([cancelled, settled]).toEqual([1, []]);
  });
});

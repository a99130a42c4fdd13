import { invocation } from '../../../../test/fixtures/invocations';
import { type OfferedPrices, modelsNamed, pricesFor, restatedUnder } from './price-book';

const V1 = '1111111111111111';
const V2 = '2222222222222222';
const history: readonly OfferedPrices[] = [
  {
    since: '2026-01-01T00:00:00.000Z',
    priceVersion: V1,
    pricing: { currency: 'USD', input: '10', output: '20', per: 1_000_000 },
  },
  { since: '2026-06-01T00:00:00.000Z', priceVersion: V2, pricing: 'free' },
];

describe('the prices to restate under', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ['those of a time', { at: '2026-05-31T23:59:59.999Z' }, V1],
    ['those that came at that time', { at: '2026-06-01T00:00:00.000Z' }, V2],
    ['none before the model was offered', { at: '2025-12-31T00:00:00.000Z' }, undefined],
    ['the version that is named', { m1: V1 }, V1],
    ['none where another model is named', { m2: V1 }, undefined],
  ])('are found by what is asked for: %s', (_, wanted, version) =>
    expect(pricesFor('m1', history, wanted)?.priceVersion).toBe(version),
  );

  it('are none of a model that is only called like a member of every object', () =>
    expect(pricesFor('constructor', history, { m1: V1 })).toBeUndefined());

  it('are of a version that the model had', () => {
    expect(() => pricesFor('m1', history, { m1: '3333333333333333' })).toThrow(
      expect.objectContaining({ code: 'invalid_body', facts: { path: 'prices.m1', reason: 'unknown_price_version' } }),
    );
    expect([modelsNamed({ at: '2026-05-31T23:59:59.999Z' }), modelsNamed({ at: V1, m2: V2 })]).toEqual([
      [],
      ['at', 'm2'],
    ]);
    expect(pricesFor('at', history, { at: V2 })?.priceVersion).toBe(V2);
  });
});

describe('a call under other prices', () => {
  const call = invocation(1, { inputTokens: 1_000, cacheReadTokens: 400, outputTokens: 100, cost: '5' });

  it('costs what they say of its tokens, cached ones a tenth', () =>
    expect(restatedUnder(call, history[0])).toMatchObject({
      billed: '5',
      cost: String(600 * 10_000 + 400 * 1_000 + 100 * 20_000),
      priceVersion: V1,
    }));
  it('costs what they say of its images, characters and seconds', () => {
    const prices = (given: object): OfferedPrices => ({
      since: '2026-01-01T00:00:00.000Z',
      priceVersion: V1,
      pricing: { currency: 'USD', input: '0', output: '0', per: 1_000_000, ...given },
    });
    const painted = invocation(1, { kind: 'image', inputTokens: 0, units: { images: 3 }, cost: '5' });
    expect(restatedUnder(painted, prices({ perImage: '0.04' })).cost).toBe('120000000');
    const heard = invocation(2, { kind: 'transcription', inputTokens: 0, units: { seconds: 90 }, cost: '5' });
    expect(restatedUnder(heard, prices({ perMinute: '0.006' })).cost).toBe('9000000');
  });
  it('costs nothing under free ones', () =>
    expect(restatedUnder({ ...call, currency: 'EUR' }, history[1])).toMatchObject({
      billed: '5',
      cost: '0',
      priceVersion: V2,
    }));
  it('costs what was billed where there are none in its currency', () => {
    expect(restatedUnder(call, undefined)).toMatchObject({ cost: '5', priceVersion: null });
    expect(restatedUnder({ ...call, currency: 'EUR' }, history[0])).toMatchObject({ cost: '5', priceVersion: null });
  });
});

import fc from 'fast-check';
import { billed, costOf, highestCostOf, type Pricing } from './pricing';
import { estimatedTokens, usageOf } from './usage';

const pricing = (given: object): Pricing => ({
  currency: 'USD',
  input: '0.25',
  output: '2.00',
  per: 1_000_000,
  ...given,
});

describe('usage', () => {
  it('counts cached reads inside the input', () => {
    expect(usageOf({ input: 100, cacheRead: 40, output: 10, reasoning: 4 })).toEqual({
      inputTokens: 100,
      inputTokenDetails: { noCacheTokens: 60, cacheReadTokens: 40, cacheWriteTokens: 0 },
      outputTokens: 10,
      outputTokenDetails: { textTokens: 6, reasoningTokens: 4 },
      totalTokens: 110,
    });
  });

  it('counts a text by its bytes, since other scripts have more tokens for each character', () =>
    expect(['', 'a', 'four', 'Grüße', '天気はどう'].map(estimatedTokens)).toEqual([0, 1, 1, 2, 4]));

  it('believes nothing impossible', () => {
    fc.assert(
      fc.property(
        fc.record({
          input: fc.anything(),
          cacheRead: fc.anything(),
          cacheWrite: fc.anything(),
          output: fc.anything(),
          reasoning: fc.anything(),
        }),
        (reported) => {
          const {
            inputTokenDetails: input,
            inputTokens,
            outputTokenDetails: output,
            outputTokens,
            totalTokens,
          } = usageOf(reported);
          for (const tokens of [...Object.values(input), ...Object.values(output), totalTokens])
            expect(Number.isSafeInteger(tokens) && tokens >= 0).toBe(true);
          expect(input.noCacheTokens + input.cacheReadTokens + input.cacheWriteTokens).toBe(inputTokens);
          expect(output.textTokens + output.reasoningTokens).toBe(outputTokens);
        },
      ),
    );
  });
});

describe('cost', () => {
  it.each([
    ['free', 'free' as const, { input: 1_000 }, '0'],
    ['whole prices', pricing({}), { input: 1_000_000, output: 1_000_000 }, '2.25'],
    ['a cached read at a tenth', pricing({}), { input: 1_000_000, cacheRead: 1_000_000 }, '0.025'],
    [
      'a cached read at its own price',
      pricing({ cachedInput: '0.1' }),
      { input: 1_000_000, cacheRead: 500_000 },
      '0.175',
    ],
    ['half a nano-unit rounded up', pricing({ input: '0.0005' }), { input: 1 }, '0.000000001'],
    ['less than half rounded down', pricing({ input: '0.0004' }), { input: 1 }, '0'],
    [
      'a tenth of the finest price',
      pricing({ input: '0.000000000015', per: 1 }),
      { input: 1_000_000, cacheRead: 1_000_000 },
      '0.0000015',
    ],
    [
      'a cache write at its own price',
      pricing({ cacheWrite: '0.5' }),
      { input: 1_000_000, cacheWrite: 500_000 },
      '0.375',
    ],
  ])('is billed by the price: %s', (_, price, tokens, cost) =>
    expect(billed(usageOf(tokens), price, 'USD')).toMatchObject({ cost, currency: 'USD', isIncludedUsage: false }),
  );

  it('is never higher than the highest, whatever of the input is cached', () =>
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 0, max: 9 })),
        fc.option(fc.integer({ min: 0, max: 9 })),
        fc.nat(1_000),
        fc.nat(1_000),
        fc.nat(1_000),
        fc.nat(1_000),
        (cached, written, input, cacheRead, cacheWrite, output) => {
          const prices = pricing({
            input: '2',
            cachedInput: cached === null ? null : String(cached),
            cacheWrite: written === null ? null : String(written),
          });
          expect(
            costOf(usageOf({ input, cacheRead, cacheWrite, output }), prices) <=
              highestCostOf(usageOf({ input, output }), prices),
          ).toBe(true);
        },
      ),
    ));
});

describe('the cost of images, speech and transcripts', () => {
  const priced = (given: object): Pricing => pricing({ input: '0', output: '0', ...given });

  it.each([
    ['images', priced({ perImage: '0.04' }), { images: 3 }, '0.12'],
    ['characters', priced({ perMillionCharacters: '15' }), { characters: 13 }, '0.000195'],
    ['seconds of a minute', priced({ perMinute: '0.006' }), { seconds: 61 }, '0.0061'],
    ['what is rounded half up, once', priced({ perMinute: '0.00000003' }), { seconds: 1 }, '0.000000001'],
    ['less than half a nano-unit', priced({ perMinute: '0.000000029' }), { seconds: 1 }, '0'],
    ['a unit that has no price', priced({ perImage: '1' }), { seconds: 60 }, '0'],
    ['nothing where it is free', 'free' as const, { images: 3 }, '0'],
  ])('is that of %s', (_, prices, units, cost) => {
    expect(billed(usageOf({}), prices, 'USD', units).cost).toBe(cost);
    expect(highestCostOf(usageOf({}), prices, units)).toBe(costOf(usageOf({}), prices, units));
  });

  it('adds the tokens that have prices too', () =>
    expect(billed(usageOf({ input: 4, output: 1_000 }), pricing({ perImage: '0.04' }), 'USD', { images: 1 }).cost).toBe(
      '0.042001',
    ));
});

import type { ModelDescription } from './catalogue';
import { type BrokenOffCall, OutputRates } from './output-rates';
import { usageOf } from './usage';

const model = (modelId: string) => ({ key: modelId, provider: 'acme', modelId }) as ModelDescription;
const slow = model('slow');

let rates: OutputRates;
beforeEach(() => (rates = new OutputRates()));

/** Notes so many calls of 512 tokens at a speed. */
const note = (count: number, tokensPerSecond: number, of = slow): void => {
  for (let call = 0; call < count; call += 1) rates.note(of, 512, (512 / tokensPerSecond) * 1_000);
};

describe('the output of a model', () => {
  it('is that of a fast model while too little of it was measured, or faster where it was seen to be', () => {
    expect(rates.of(slow)).toBe(1_000);
    note(9, 50);
    expect(rates.of(slow)).toBe(1_000);
    note(1, 2_000);
    expect(rates.of(slow)).toBe(50);
    note(1, 2_000, model('fast'));
    expect(rates.of(model('fast'))).toBe(2_000);
  });

  it('is what nine in ten of its last calls came to', () => {
    note(54, 50);
    note(6, 80);
    expect(rates.of(slow)).toBe(50);
    note(4, 80);
    expect(rates.of(slow)).toBe(80);
    note(64, 40);
    expect(rates.of(slow)).toBe(40);
  });

  it('is not told by short answers that take long to begin, nor by what a cache gives, but by short ones that are faster', () => {
    note(10, 50);
    for (let call = 0; call < 64; call += 1) {
      rates.note(slow, 255, 60_000);
      rates.note(slow, 100_000, 249);
    }
    expect(rates.of(slow)).toBe(50);
    for (let call = 0; call < 10; call += 1) rates.note(slow, 100, 1_000);
    expect(rates.of(slow)).toBe(100);
  });

  it('is its own at each provider, whatever the catalogue calls the model', () => {
    note(10, 50);
    expect([rates.of({ ...slow, key: 'renamed' }), rates.of({ ...slow, provider: 'other' })]).toEqual([50, 1_000]);
  });
});

describe('a call that was broken off', () => {
  const seen = usageOf({ input: 7, output: 20, reasoning: 5 });
  const bill = (given: Partial<BrokenOffCall> = {}) => {
    const { usage, source } = rates.brokenOff({ model: slow, ms: 2_000, seen, held: 16_384, ...given });
    return [source, usage.inputTokens, usage.outputTokens, usage.outputTokenDetails, usage.totalTokens];
  };
  beforeEach(() => note(10, 50));

  it('is billed what its model could have made in the time it had, and no more than was held', () => {
    expect(bill()).toEqual(['held', 7, 100, { textTokens: 95, reasoningTokens: 5 }, 107]);
    expect(bill({ held: 60 })).toEqual(['held', 7, 60, { textTokens: 55, reasoningTokens: 5 }, 67]);
  });

  it('is billed what was seen of it where that is more, be it more than was held', () => {
    const counted = ['counted', 7, 20, { textTokens: 15, reasoningTokens: 5 }, 27];
    expect([bill({ ms: 400 }), bill({ held: 20 }), bill({ held: 10 }), bill({ held: 0 })]).toEqual([
      counted,
      counted,
      counted,
      counted,
    ]);
  });

  it('is billed what its provider told on the way, and what could have been made since', () => {
    expect(bill({ ms: 1_000, told: 18 })).toEqual(['held', 7, 68, { textTokens: 63, reasoningTokens: 5 }, 75]);
  });
});

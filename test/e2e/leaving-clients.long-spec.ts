import { INPUT } from '../fixtures/generating-provider';
import {
  type Call,
  chat,
  leaving,
  limited,
  provider,
  RATE,
  TOKENS,
  TOLERANCE,
  upstream,
  withGenerating,
} from './leaving-world';

withGenerating();

describe('a call that its client leaves', () => {
  /** `most`: what the model could have made, twice over, until its client left, and until all was settled. A process that stands still for a while sees both late. */
  const leave = async (...given: Parameters<typeof leaving>) => {
    const { key, settled } = await limited(10);
    const begun = performance.now();
    expect(await leaving(...given)(key)).toBe(true);
    const made = () => (2 * RATE * (performance.now() - begun)) / 1_000;
    const left = made();
    const calls: readonly Call[] = await settled();
    return { calls, call: calls[0], most: { left, settled: made() } };
  };

  it('behind its end is billed what its provider says of it', async () => {
    for (const reasoning of [0, 900]) {
      provider.bills.length = 0;
      const { calls } = await leave({ reasoning, text: 100, usageAfter: 300 }, { at: '"finish_reason":"stop"' });
      expect(calls).toMatchObject([
        { outcome: 'aborted', usageSource: 'upstream', usage: { inputTokens: INPUT, outputTokens: reasoning + 100 } },
      ]);
      expect(upstream.cuts).toEqual([]);
    }
  });

  it('before it is billed what its model could have made, and never more than was held', async () => {
    const small = await leave({ reasoning: TOKENS }, { at: 300, maxTokens: 100 });
    expect(small.call).toMatchObject({ outcome: 'aborted', usageSource: 'held', usage: { outputTokens: 100 } });
    provider.bills.length = 0;
    const large = await leave({ reasoning: 20_000 }, { at: 300, maxTokens: 20_000 });
    expect(large.call).toMatchObject({ outcome: 'aborted', usageSource: 'held' });
    expect(large.call?.usage.outputTokens).toBeGreaterThanOrEqual(provider.bills[0]?.output as number);
    expect(large.call?.usage.outputTokens).toBeLessThan(3_000 + large.most.settled);
  });

  it('is billed what is known where its provider is slow to say what it used', async () => {
    const given = { at: '"finish_reason":"stop"', maxTokens: 20_000 };
    const { call, most } = await leave({ text: 100, usageAfter: 8_000 }, given);
    // What was seen is billed where the model could not have made more by the end of the answer; no time behind it counts.
    expect(call?.outcome).toBe('aborted');
    expect(['counted', 'held']).toContain(call?.usageSource);
    expect(call?.usage.outputTokens).toBeLessThan(Math.max(400, most.left));
    expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(100);
  });
});

describe('a call that its client does not leave', () => {
  it.each([true, false])('is billed what its provider says (stream: %s)', async (stream) => {
    const { key, settled } = await limited(10);
    await (await chat(key, { reasoning: 500, text: 100 }, { stream })).text();
    expect(await settled()).toMatchObject([
      { outcome: 'ok', usageSource: 'upstream', usage: { inputTokens: INPUT, outputTokens: 600 } },
    ]);
  });

  it.each([true, false])(
    'is billed what its model could have made where that takes too long (stream: %s)',
    async (stream) => {
      const { key, settled } = await limited(10);
      await (await chat(key, { reasoning: 4_000 }, { model: 'hasty', max_tokens: 4_000, stream })).text();
      const [call] = await settled();
      expect(call).toMatchObject({ outcome: 'failed', usageSource: 'held' });
      // A whole answer goes on to its end at this provider, which no clock can tell. A stream goes on until the provider
      // hears that it was cut, which takes a busy machine a while; billed by what was seen, it would come to nothing.
      if (stream) expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(0.5 * (provider.bills[0]?.output as number));
      expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(0.4 * RATE);
    },
  );

  it('is billed what its model could have made where its provider breaks off in the middle', async () => {
    const { key, settled } = await limited(10);
    await (await chat(key, { reasoning: 400, text: 600, cutAt: 500 })).text();
    const [call] = await settled();
    expect(call).toMatchObject({ outcome: 'failed', usageSource: 'held' });
    expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(TOLERANCE * 500);
  });
});

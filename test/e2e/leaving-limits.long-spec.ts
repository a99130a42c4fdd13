import { INPUT, type Wanted } from '../fixtures/generating-provider';
import { until } from '../fixtures/until';
import {
  type Leaving,
  leaving,
  LIMIT,
  limited,
  made,
  platform,
  provider,
  TOKENS,
  TOLERANCE,
  withGenerating,
} from './leaving-world';

withGenerating();

const PRICES = { input: 1e-6, output: 160e-6 };
const billed = (): number =>
  provider.bills.reduce((sum, { input, output }) => sum + input * PRICES.input + output * PRICES.output, 0);

/** So many leave at once, again and again until the limit lets none of them through. */
const leaveUntilRejected = async (key: string, clients: number, leave: Leaving): Promise<void> => {
  for (let round = 0; round < 20; round += 1) {
    const begun = await Promise.all(Array.from({ length: clients }, () => leave(key)));
    if (begun.every((one) => !one)) return;
    await until(() => provider.underWay.size === 0, 'the end of what the provider makes');
  }
  throw new Error('the limit rejected nobody');
};

describe('a limit of 0.50', () => {
  it.each<[string, number, Parameters<typeof leaving>]>([
    [
      'by 20 streams left between finish_reason and usage',
      20,
      [{ reasoning: 900, text: 100, usageAfter: 400 }, { at: '"finish_reason":"stop"' }],
    ],
    [
      'by 12 whole answers left late',
      12,
      [
        { reasoning: 900, text: 100 },
        { stream: false, at: 0.95 * TOKENS },
      ],
    ],
    ['by streams of reasoning alone, left in their middle', 20, [{ reasoning: TOKENS }, { at: 300 }]],
    ['by streams of text left in their middle', 20, [{ text: TOKENS }, { at: 300 }]],
    [
      'by streams of which more was held than they make, left in their middle',
      20,
      [{ reasoning: 4_000 }, { at: 300, maxTokens: 4_000 }],
    ],
  ])('is not passed %s', async (_, clients, given) => {
    const { key, state, settled } = await limited();
    await leaveUntilRejected(key, clients, leaving(...given));
    await settled();
    const { spent } = await state();
    expect(Number(spent)).toBeGreaterThanOrEqual(TOLERANCE * billed());
    // Calls begin while anything is left; those that are let through at once are one too many at most.
    const { maxTokens = TOKENS } = given[1];
    expect(billed()).toBeLessThanOrEqual((LIMIT + maxTokens * PRICES.output + INPUT * PRICES.input) / TOLERANCE);
    expect(Number(spent)).toBeGreaterThanOrEqual(LIMIT);
  });
});

describe('an answer of an Agent that is stopped', () => {
  const ask = async (wanted: Wanted, stream: boolean) => {
    const { key, settled } = await limited(10);
    const { body: agent } = await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      key,
      body: { name: 'Guide', model: 'm', knowledgeEnabled: false },
    });
    const base = `/api/v1/core/llm/${agent.id}/conversation`;
    const asked = platform.call<{ message: { status: string; usage: { outputTokens: number } | null } }>(base, {
      method: 'POST',
      key,
      body: { message: JSON.stringify(wanted), stream },
    });
    const stop = async (): Promise<void> => {
      await until(
        async () => (await platform.call<{ items: unknown[] }>(base, { key })).body.items.length === 1,
        'the conversation',
      );
      const [{ id }] = (await platform.call<{ items: [{ id: string }] }>(base, { key })).body.items;
      expect((await platform.call(`${base}/${id}/stop`, { method: 'POST', key })).status).toBe(200);
    };
    return { asked, stop, settled };
  };

  it.each([true, false])('is billed what its model could have made (stream: %s)', async (stream) => {
    const { asked, stop, settled } = await ask({ reasoning: 4_000 }, stream);
    await made(600);
    await stop();
    const { body } = await asked;
    const [call] = await settled();
    expect(call).toMatchObject({ outcome: 'aborted', usageSource: 'held' });
    if (stream)
      expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(TOLERANCE * (provider.bills[0]?.output as number));
    else expect(body.message).toMatchObject({ status: 'stopped', usage: { outputTokens: call?.usage.outputTokens } });
    expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(600);
  });

  it('behind its end is billed what its provider says of it', async () => {
    const { asked, stop, settled } = await ask({ reasoning: 900, text: 100, usageAfter: 1_000 }, true);
    await until(() => provider.bills.length === 1, 'the end of the answer');
    await stop();
    await asked;
    expect(await settled()).toMatchObject([
      { outcome: 'ok', usageSource: 'upstream', usage: { inputTokens: INPUT, outputTokens: 1_000 } },
    ]);
  });
});

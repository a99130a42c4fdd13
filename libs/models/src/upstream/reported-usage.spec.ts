import type { ModelDescription } from '../catalogue';
import { believedUsage } from './reported-usage';

const believed = (report: unknown, produced = true, contextWindow?: number, kind: ModelDescription['kind'] = 'chat') =>
  believedUsage(report, { kind, contextWindow } as ModelDescription, produced);
const brief = (report: unknown) => {
  const usage = believed(report);
  return usage === undefined
    ? undefined
    : [
        usage.inputTokens,
        usage.inputTokenDetails.cacheReadTokens,
        usage.inputTokenDetails.cacheWriteTokens,
        usage.outputTokens,
        usage.outputTokenDetails.reasoningTokens,
      ];
};

describe('reported usage', () => {
  it.each([
    [
      'as OpenAI reports it',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      [10, 4, 0, 5, 2],
    ],
    [
      'with more cached than there is',
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 40 } },
      [10, 10, 0, 5, 0],
    ],
    [
      'that excludes cached tokens',
      { input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 5 },
      [123, 100, 20, 5, 0],
    ],
    [
      'that excludes cached tokens under the common names',
      { prompt_tokens: 10, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 90 } },
      [100, 90, 0, 10, 0],
    ],
    [
      'that excludes some cached tokens',
      { prompt_tokens: 90, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 10 } },
      [100, 10, 0, 10, 0],
    ],
    [
      'that excludes either cached or reasoning tokens',
      {
        prompt_tokens: 50,
        completion_tokens: 10,
        total_tokens: 90,
        prompt_tokens_details: { cached_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      [50, 30, 0, 40, 30],
    ],
    [
      'that includes cached tokens',
      { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 90 } },
      [100, 90, 0, 10, 0],
    ],
    [
      'that excludes reasoning tokens',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 115,
        completion_tokens_details: { reasoning_tokens: 100 },
      },
      [10, 0, 0, 105, 100],
    ],
    [
      'that excludes cached and reasoning tokens',
      {
        prompt_tokens: 50,
        completion_tokens: 10,
        total_tokens: 110,
        prompt_tokens_details: { cached_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      [80, 30, 0, 30, 20],
    ],
    [
      'that tells of reasoning in the total alone, as Gemini',
      { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
      [20, 0, 0, 603, 405],
    ],
    [
      'with a total that cannot be',
      { prompt_tokens: 20, completion_tokens: 198, total_tokens: 1e12 },
      [20, 0, 0, 198, 0],
    ],
    [
      'with a total that is too small',
      { prompt_tokens: 20, completion_tokens: 198, total_tokens: 20 },
      [20, 0, 0, 198, 0],
    ],
    [
      'with more reasoning than output',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        completion_tokens_details: { reasoning_tokens: 100 },
      },
      [10, 0, 0, 5, 5],
    ],
    [
      'as DeepSeek reports it',
      { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 6 },
      [10, 6, 0, 5, 0],
    ],
  ])('adds up: %s', (_, report, expected) => expect(brief(report)).toEqual(expected));

  it.each([
    null,
    undefined,
    'x',
    {},
    { prompt_tokens: -1, completion_tokens: 1 },
    { prompt_tokens: 1, completion_tokens: -1 },
    { prompt_tokens: 1.5, completion_tokens: 1 },
    { prompt_tokens: '1', completion_tokens: 1 },
    { prompt_tokens: 0, completion_tokens: 1 },
    { prompt_tokens: 1, completion_tokens: 0 },
    { prompt_tokens: 1, completion_tokens: 1e9 },
    { prompt_tokens: Number.NaN, completion_tokens: 1 },
  ])('is not believed when it is %j', (report) => expect(believed(report)).toBeUndefined());

  it('is not believed beyond what the model can take', () =>
    expect([
      believed({ prompt_tokens: 11, completion_tokens: 1 }, true, 10),
      believed({ prompt_tokens: 9 }, false, 10)?.inputTokens,
    ]).toEqual([undefined, 9]));

  it.each(['embedding', 'reranker'] as const)('of %s models has no output, whatever its total', (kind) =>
    expect(believed({ prompt_tokens: 5, total_tokens: 7 }, false, undefined, kind)?.outputTokens).toBe(0),
  );

  it.each(['embedding', 'reranker'] as const)(
    'of %s models is believed beyond their window, which is that of one text of many',
    (kind) => {
      expect([
        believed({ prompt_tokens: 16_000, total_tokens: 16_000 }, false, 8_192, kind)?.inputTokens,
        believed({ prompt_tokens: 1e9 }, false, 8_192, kind),
      ]).toEqual([16_000, undefined]);
    },
  );
});

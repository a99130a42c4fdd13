import type { ModelDescription } from '../catalogue';
import { type TokenUsage, usageOf } from '../usage';

/** No model takes or gives more in one call, where its catalogue entry does not say how much a chat may be. */
const LARGEST_WINDOW = 10_000_000;

type Report = Readonly<Record<string, unknown>>;

/**
 * What a provider reported, as ours; undefined where it reported nothing or what cannot be: negative, fractional or absurd
 * numbers, no input at all, no output although some came. Reports that exclude cached tokens from the input, or reasoning
 * tokens from the output, are completed.
 */
export const believedUsage = (report: unknown, model: ModelDescription, produced: boolean): TokenUsage | undefined => {
  if (typeof report !== 'object' || report === null) return undefined;
  const given = report as Report;
  const inputDetails = detailsOf(given, 'prompt_tokens_details', 'input_tokens_details');
  const cacheRead = inputDetails['cached_tokens'] ?? given['cache_read_input_tokens'] ?? given['prompt_cache_hit_tokens'];
  const reasoning = detailsOf(given, 'completion_tokens_details', 'output_tokens_details')['reasoning_tokens'];
  const counted = given['prompt_tokens'] ?? inclusiveInput(given);
  const output = given['completion_tokens'] ?? given['output_tokens'] ?? (produced ? undefined : 0);
  const input = excludesCached(given, counted, output, cacheRead, reasoning) ? (counted as number) + (cacheRead as number) : counted;
  // Other kinds of models take many texts at once, each of them as long as the window.
  const most = (model.kind === 'chat' ? model.contextWindow : undefined) ?? LARGEST_WINDOW;
  if (!isCount(input, most) || !isCount(output, most) || input === 0 || (produced && output === 0)) return undefined;
  return usageOf({
    input,
    cacheRead,
    cacheWrite: inputDetails['cache_write_tokens'] ?? given['cache_creation_input_tokens'],
    output: output + (excludesReasoning(given, input + output, reasoning) ? reasoning : 0),
    reasoning,
  });
};

/** `input_tokens` beside `cache_…_input_tokens` (Anthropic's shape) counts neither. */
const inclusiveInput = (given: Report): unknown => {
  const parts = [given['input_tokens'], given['cache_read_input_tokens'] ?? 0, given['cache_creation_input_tokens'] ?? 0];
  return parts.every((part) => typeof part === 'number') ? parts.reduce((sum, part) => sum + part, 0) : undefined;
};

/** The total alone counts the cached tokens; where reasoning explains it as well, more must be cached than there is input. */
const excludesCached = (given: Report, input: unknown, output: unknown, cached: unknown, reasoning: unknown): boolean =>
  isCount(input, LARGEST_WINDOW) &&
  isCount(output, LARGEST_WINDOW) &&
  isCount(cached, LARGEST_WINDOW) &&
  cached > 0 &&
  given['total_tokens'] === input + output + cached &&
  (cached > input || !excludesReasoning(given, input + output, reasoning));

/** xAI's shape: the total alone counts the reasoning. */
const excludesReasoning = (given: Report, counted: number, reasoning: unknown): reasoning is number => isCount(reasoning, LARGEST_WINDOW) && reasoning > 0 && given['total_tokens'] === counted + reasoning;

const detailsOf = (given: Report, ...names: readonly string[]): Report => {
  const details = names.map((name) => given[name]).find((value) => typeof value === 'object' && value !== null);
  return (details ?? {}) as Report;
};

const isCount = (value: unknown, most: number): value is number => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most;

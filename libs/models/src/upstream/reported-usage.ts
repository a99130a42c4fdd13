import type { ModelDescription } from '../catalogue';
import { type TokenUsage, usageOf } from '../usage';
import { UpstreamFailure } from './failure';

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
  const { counted, cacheRead, cacheWrite, reasoning, total, ...made } = numbersOf(report as Report);
  const output = made.output ?? (produced ? undefined : 0);
  // Other kinds of models take many texts at once, each of them as long as the window.
  const most = (model.kind === 'chat' ? model.contextWindow : undefined) ?? LARGEST_WINDOW;
  if (!isCount(counted, most) || !isCount(output, most)) return undefined;
  const rest = excludedRest(total, { input: counted, output, cached: cacheRead, reasoning });
  const input = counted + rest.cached;
  if (input > most || input === 0 || (produced && output === 0)) return undefined;
  const unseen = model.kind === 'chat' && rest.unseen <= most ? rest.unseen : 0;
  return usageOf({
    input,
    cacheRead,
    cacheWrite,
    output: output + unseen,
    reasoning: isCount(reasoning, most) && reasoning > 0 ? reasoning : unseen,
  });
};

/** The numbers of a report, under whichever of the known names it gives them. */
const numbersOf = (given: Report) => {
  const inputDetails = detailsOf(given, 'prompt_tokens_details', 'input_tokens_details');
  return {
    counted: given['prompt_tokens'] ?? inclusiveInput(given),
    cacheRead: inputDetails['cached_tokens'] ?? given['cache_read_input_tokens'] ?? given['prompt_cache_hit_tokens'],
    cacheWrite: inputDetails['cache_write_tokens'] ?? given['cache_creation_input_tokens'],
    output: given['completion_tokens'] ?? given['output_tokens'],
    reasoning: detailsOf(given, 'completion_tokens_details', 'output_tokens_details')['reasoning_tokens'],
    total: given['total_tokens'],
  };
};

/** What a provider reported, as far as it is believed, of a call that has input alone: some tell nothing but the total of it. */
export const inputUsage = (report: unknown, model: ModelDescription): { readonly usage?: TokenUsage } => {
  const said = report as Report | null | undefined;
  const usage =
    typeof said === 'object' && said !== null
      ? believedUsage({ completion_tokens: 0, prompt_tokens: said['total_tokens'], ...said }, model, false)
      : undefined;
  return usage === undefined ? {} : { usage };
};

/**
 * What came to its end and is no answer. Where its provider reports what it used for it, that is billed, and nobody asks for the same again: it
 * would be made, and billed, alike.
 */
export const noAnswer = (
  report: unknown,
  model: ModelDescription,
  { kind, facts, cause } = new UpstreamFailure('broken'),
): UpstreamFailure => {
  const hasInputAlone = model.kind === 'embedding' || model.kind === 'reranker';
  const usage = hasInputAlone ? inputUsage(report, model).usage : believedUsage(report, model, false);
  const billed = usage === undefined ? {} : { status: 200, ...facts, work: { model, ms: 0, usage } };
  return new UpstreamFailure(kind, { ...facts, ...billed }, cause === undefined ? {} : { cause });
};

/** `input_tokens` beside `cache_…_input_tokens` (Anthropic's shape) counts neither. */
const inclusiveInput = (given: Report): unknown => {
  const parts = [
    given['input_tokens'],
    given['cache_read_input_tokens'] ?? 0,
    given['cache_creation_input_tokens'] ?? 0,
  ];
  return parts.every((part) => typeof part === 'number') ? parts.reduce((sum, part) => sum + part, 0) : undefined;
};

interface Counted {
  readonly input: number;
  readonly output: number;
  readonly cached: unknown;
  readonly reasoning: unknown;
}

/**
 * What the total alone counts: cached tokens (some count only what was not cached as input), what was reasoned (xAI), or both.
 * Reasoning goes first unless more is cached than there is input. What nothing explains was produced unseen (Gemini).
 */
const excludedRest = (
  total: unknown,
  { input, output, cached, reasoning }: Counted,
): { readonly cached: number; readonly unseen: number } => {
  const rest = isCount(total, Number.MAX_SAFE_INTEGER) ? total - input - output : 0;
  if (rest <= 0) return { cached: 0, unseen: 0 };
  const read = isCount(cached, LARGEST_WINDOW) ? cached : 0;
  const reasoned = isCount(reasoning, LARGEST_WINDOW) ? reasoning : 0;
  if (rest === read && (read > input || rest !== reasoned)) return { cached: read, unseen: 0 };
  return rest === read + reasoned ? { cached: read, unseen: reasoned } : { cached: 0, unseen: rest };
};

const detailsOf = (given: Report, ...names: readonly string[]): Report => {
  const details = names.map((name) => given[name]).find((value) => typeof value === 'object' && value !== null);
  return (details ?? {}) as Report;
};

const isCount = (value: unknown, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most;

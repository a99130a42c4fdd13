import { z } from 'zod';
import type { ModelDescription } from './catalogue';

const tokens = z.number().int().nonnegative();

/** Tokens of a model call. `inputTokens` is the full total, cached reads included (specification, LLM invocation). */
export const tokenUsage = z.strictObject({
  inputTokens: tokens.describe('Input tokens, including cached ones.'),
  inputTokenDetails: z
    .strictObject({
      noCacheTokens: tokens.describe('Tokens not in a cache.'),
      cacheReadTokens: tokens.describe('Tokens read from a cache.'),
      cacheWriteTokens: tokens.describe('Tokens written to a cache.'),
    })
    .describe('Input tokens, by cache use.'),
  outputTokens: tokens.describe('Output tokens.'),
  outputTokenDetails: z
    .strictObject({
      textTokens: tokens.describe('Tokens of the answer.'),
      reasoningTokens: tokens.describe('Reasoning tokens.'),
    })
    .describe('Output tokens, by kind.'),
  totalTokens: tokens.describe('Total tokens.'),
});
export type TokenUsage = z.output<typeof tokenUsage>;

const count = z.number().int().nonnegative();

/** What calls of models for images, speech and transcription are billed by: each has the one of its kind. Begun seconds count as whole ones. */
export const unitUsage = z.strictObject({
  images: count.exactOptional().describe('Images generated.'),
  characters: count.exactOptional().describe('Characters converted to speech.'),
  seconds: count.exactOptional().describe('Seconds of audio transcribed.'),
});
export type UnitUsage = z.output<typeof unitUsage>;

/** Usage of an invocation with what it cost: `cost` is a decimal string in `currency`. */
export const invocationUsage = tokenUsage.extend({
  cost: z.string().describe('What the call cost, a decimal.'),
  currency: z.string().describe('The currency of the cost.'),
  isIncludedUsage: z.boolean().describe('Whether it is covered by included usage.'),
});
export type InvocationUsage = z.output<typeof invocationUsage>;

/** Usage as the wire has it: images, characters and seconds in place of tokens, which are there too where a provider reported them. */
export const shownInvocationUsage = z
  .object({ units: unitUsage.optional().describe('The billed units of images, speech and transcription.') })
  .extend(tokenUsage.partial().shape)
  .extend(invocationUsage.pick({ cost: true, currency: true, isIncludedUsage: true }).shape);
export type ShownUsage = z.output<typeof shownInvocationUsage>;

/** Usage as the API answers it: without tokens where a call is measured in other units alone. */
export const shownUsage = (usage: InvocationUsage, units: UnitUsage | undefined): ShownUsage => {
  if (units === undefined) return usage;
  const { cost, currency, isIncludedUsage } = usage;
  return { units, ...(usage.totalTokens === 0 ? { cost, currency, isIncludedUsage } : usage) };
};

/**
 * Who says what a call used: its provider; we, who counted what was sent and seen; or, for a call that was broken off before its
 * provider said so, what may have been made of it by then, at most what was held.
 */
export type UsageSource = 'upstream' | 'counted' | 'held';

/** How long a provider that was left may take to say what a finished answer used, milliseconds. */
export const USAGE_MS = 5_000;

/** What a call used, and who counted it. */
export interface KnownUsage {
  readonly usage: TokenUsage;
  /** Of kinds that have units. */
  readonly units?: UnitUsage;
  readonly source: UsageSource;
}

/** A usage with more text put out. */
export const withMoreOutput = (usage: TokenUsage, more: number): TokenUsage => ({
  ...usage,
  outputTokens: usage.outputTokens + more,
  outputTokenDetails: { ...usage.outputTokenDetails, textTokens: usage.outputTokenDetails.textTokens + more },
  totalTokens: usage.totalTokens + more,
});

/** What a provider reported, which may be anything: negative, fractional, absent, larger than its total. */
export interface ReportedTokens {
  readonly input?: unknown;
  readonly cacheRead?: unknown;
  readonly cacheWrite?: unknown;
  readonly output?: unknown;
  readonly reasoning?: unknown;
}

/** Largest believable number of tokens in one call; a hostile report cannot bill more. */
const MAX_TOKENS = 100_000_000;

/** Usage from a provider's report, each number clamped to what is possible. */
export const usageOf = (reported: ReportedTokens): TokenUsage => {
  const inputTokens = clamped(reported.input, MAX_TOKENS);
  const cacheReadTokens = clamped(reported.cacheRead, inputTokens);
  const cacheWriteTokens = clamped(reported.cacheWrite, inputTokens - cacheReadTokens);
  const outputTokens = clamped(reported.output, MAX_TOKENS);
  const reasoningTokens = clamped(reported.reasoning, outputTokens);
  return {
    inputTokens,
    inputTokenDetails: {
      noCacheTokens: inputTokens - cacheReadTokens - cacheWriteTokens,
      cacheReadTokens,
      cacheWriteTokens,
    },
    outputTokens,
    outputTokenDetails: { textTokens: outputTokens - reasoningTokens, reasoningTokens },
    totalTokens: inputTokens + outputTokens,
  };
};

const clamped = (value: unknown, max: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(Math.max(Math.trunc(value), 0), max) : 0;

/** Tokens that a text has at most: no vocabulary has more than one for a byte. */
export const mostTokens = (text: string): number => Buffer.byteLength(text);

/** Tokens of a text where nobody counted them: four bytes each, the usual rule of thumb for text of one byte a character; others have more tokens for each. */
export const estimatedTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

/** Tokens of a model whose catalogue entry names no window: nobody holds back more of a limit that others share. */
const LARGE_WINDOW = 131_072;

/** Tokens that a call may take in and give out at most. */
interface CallWindow {
  readonly input: number;
  readonly output: number;
}

/** The widest window of those that may answer, since nobody knows yet who will. A model whose window is not named may take in all that was `counted`. */
export const callWindow = (models: readonly ModelDescription[], counted: number): CallWindow => {
  const widest = (unnamed: number): number =>
    models.reduce((most, { contextWindow = unnamed }) => Math.max(most, contextWindow), 0);
  return { input: widest(Math.max(LARGE_WINDOW, counted)), output: widest(LARGE_WINDOW) };
};

import { createHash } from 'node:crypto';
import { canonicalJson, decimalAmount } from '@app/kernel';
import { z } from 'zod';
import type { InvocationUsage, TokenUsage, UnitUsage } from './usage';

/** What a model does. */
export const modelKind = z.enum(['chat', 'embedding', 'reranker', 'image', 'speech', 'transcription']);
export type ModelKind = z.output<typeof modelKind>;

const DECIMAL = 'must be a decimal number of at most 12 decimals';
const decimal = z.preprocess(
  (given) => (typeof given === 'number' ? plainText(given) : given),
  z.string(DECIMAL).regex(/^\d{1,9}(\.\d{1,12})?$/, DECIMAL),
);
const CURRENCY = 'must be a currency such as "USD"';
const PRICING = 'must be "free", or prices such as { "currency": "USD", "input": "0.25", "output": "2.00" }';

/** Prices as somebody states them: one that is left out is not there. */
export const statedPricing = z.union([
  z.literal('free'),
  z.strictObject(
    {
      currency: z.string(CURRENCY).regex(/^[A-Z]{3}$/, CURRENCY),
      input: decimal.optional(),
      cachedInput: decimal.nullish(),
      cacheWrite: decimal.nullish(),
      output: decimal.optional(),
      per: z.number().int().positive().default(1_000_000),
      perImage: decimal.optional(),
      perMillionCharacters: decimal.optional(),
      perMinute: decimal.optional(),
    },
    { error: ({ code }) => (code === 'invalid_type' ? PRICING : undefined) },
  ),
]);
export type StatedPricing = z.output<typeof statedPricing>;

/** Stated prices as they are billed: tokens of a sort that has no price cost nothing. */
export const pricingOf = (stated: StatedPricing) =>
  stated === 'free' ? stated : { ...stated, input: stated.input ?? '0', output: stated.output ?? '0' };

/** What a model costs. Token prices are per `per` tokens; a cached read costs a tenth of `input` unless it has a price. */
export const pricingSchema = statedPricing.transform(pricingOf);
export type Pricing = z.output<typeof pricingSchema>;

type PriceName = 'input' | 'output' | 'perImage' | 'perMillionCharacters' | 'perMinute';
const TOKENS = ['input', 'output'] as const;

/** What a model of a kind is billed for: it needs all the prices of one of these lists. */
const NEEDED: Readonly<Record<ModelKind, readonly (readonly PriceName[])[]>> = {
  chat: [TOKENS],
  embedding: [['input']],
  reranker: [['input']],
  image: [['perImage'], TOKENS],
  speech: [['perMillionCharacters'], TOKENS],
  transcription: [['perMinute'], TOKENS],
};

/** Says which prices a model of a kind lacks; undefined where it can be billed. A price that nobody stated is not 0: `free` must be said. */
export const missingPrices = (stated: StatedPricing, kind: ModelKind): string | undefined => {
  if (stated === 'free') return undefined;
  const choices = NEEDED[kind];
  if (choices.some((names) => names.every((name) => stated[name] !== undefined))) return undefined;
  return `${kind} models need the prices ${choices.map((names) => names.join(' and ')).join(', or ')}; one that costs nothing is "free"`;
};

/** Names prices by what they are: the same prices have the same version, today and on every other day. */
export const priceVersionOf = (pricing: Pricing): string =>
  createHash('sha256').update(canonicalJson(pricing)).digest('hex').slice(0, 16);

/** Prices have 12 decimals, a tenth of one has 13; amounts have 9 (nano-units). */
const PRICE_DECIMALS = 13;
const AMOUNT_DECIMALS = 9;

/** A usage with its cost, rounded half up to a nano-unit once. */
export const billed = (
  usage: TokenUsage,
  pricing: Pricing,
  currency: string,
  units: UnitUsage = NO_UNITS,
): InvocationUsage => ({
  ...usage,
  cost: decimalAmount(costOf(usage, pricing, units)),
  currency,
  isIncludedUsage: false,
});

const NO_UNITS: UnitUsage = {};

/** What a usage costs, in nano-units: its tokens and its units, where both have prices. The input price applies to the part of the input that was not cached (specification, LLM invocation). */
export const costOf = (usage: TokenUsage, pricing: Pricing, units: UnitUsage = NO_UNITS): bigint => {
  if (pricing === 'free') return 0n;
  const { input, cached, written, output, unit } = pricesOf(pricing);
  const { noCacheTokens, cacheReadTokens, cacheWriteTokens } = usage.inputTokenDetails;
  const total =
    BigInt(noCacheTokens) * input +
    BigInt(cacheReadTokens) * cached +
    BigInt(cacheWriteTokens) * written +
    BigInt(usage.outputTokens) * output;
  return rounded(total, unit, units, pricing);
};

/** What a usage costs at most, in nano-units, where it is not known yet what of its input will be read from a cache or written to one. */
export const highestCostOf = (
  { inputTokens, outputTokens }: Pick<TokenUsage, 'inputTokens' | 'outputTokens'>,
  pricing: Pricing,
  units: UnitUsage = NO_UNITS,
): bigint => {
  if (pricing === 'free') return 0n;
  const { dearestInput, output, unit } = pricesOf(pricing);
  return rounded(BigInt(inputTokens) * dearestInput + BigInt(outputTokens) * output, unit, units, pricing);
};

const SECONDS = 60n;
const CHARACTERS = 1_000_000n;
const SCALE = 10n ** BigInt(PRICE_DECIMALS - AMOUNT_DECIMALS);

/** The cost of tokens, a sum over its unit, and of units, rounded once. */
const rounded = (
  tokens: bigint,
  unit: bigint,
  { images = 0, characters = 0, seconds = 0 }: UnitUsage,
  pricing: Exclude<Pricing, 'free'>,
): bigint => {
  if (images + characters + seconds === 0) return (tokens + unit / 2n) / unit;
  const { perImage, perCharacters, perMinute } = pricesOf(pricing);
  const sum =
    BigInt(images) * perImage * CHARACTERS * SECONDS +
    BigInt(characters) * perCharacters * SECONDS +
    BigInt(seconds) * perMinute * CHARACTERS;
  const over = SCALE * CHARACTERS * SECONDS;
  const [total, whole] = [tokens * over + sum * unit, unit * over];
  return (total + whole / 2n) / whole;
};

interface Prices {
  readonly input: bigint;
  readonly cached: bigint;
  readonly written: bigint;
  readonly dearestInput: bigint;
  readonly output: bigint;
  readonly perImage: bigint;
  /** Of a million. */
  readonly perCharacters: bigint;
  readonly perMinute: bigint;
  /** What a price times tokens is divided by to get nano-units. */
  readonly unit: bigint;
}

/** Prices are read from their text once. */
const known = new WeakMap<object, Prices>();

const pricesOf = (pricing: Exclude<Pricing, 'free'>): Prices => {
  let prices = known.get(pricing);
  if (prices === undefined) {
    const input = scaled(pricing.input);
    const cached = typeof pricing.cachedInput === 'string' ? scaled(pricing.cachedInput) : input / 10n;
    const written = typeof pricing.cacheWrite === 'string' ? scaled(pricing.cacheWrite) : input;
    prices = {
      input,
      cached,
      written,
      dearestInput: [input, cached, written].reduce((most, price) => (price > most ? price : most)),
      output: scaled(pricing.output),
      perImage: scaled(pricing.perImage ?? '0'),
      perCharacters: scaled(pricing.perMillionCharacters ?? '0'),
      perMinute: scaled(pricing.perMinute ?? '0'),
      unit: BigInt(pricing.per) * 10n ** BigInt(PRICE_DECIMALS - AMOUNT_DECIMALS),
    };
    known.set(pricing, prices);
  }
  return prices;
};

/** A number without an exponent; one that says more than 12 decimals keeps them, and is rejected for it. */
function plainText(price: number): string {
  const text = price.toFixed(12).replace(/\.?0+$/, '');
  return Number(text) === price ? text : String(price);
}

const scaled = (price: string): bigint => {
  const [whole = '0', fraction = ''] = price.split('.');
  return BigInt(whole + fraction.padEnd(PRICE_DECIMALS, '0'));
};

import { z } from 'zod';
import type { InvocationUsage, TokenUsage } from './usage';

const decimal = z
  .union([z.string(), z.number().transform(String)])
  .pipe(z.string().regex(/^\d{1,9}(\.\d{1,12})?$/, 'must be a decimal number of at most 12 decimals'));

/** What a model costs. Token prices are per `per` tokens; a cached read costs a tenth of `input` unless it has a price. */
export const pricingSchema = z.union([
  z.literal('free'),
  z.strictObject({
    currency: z.string().regex(/^[A-Z]{3}$/),
    input: decimal.default('0'),
    cachedInput: decimal.nullish(),
    cacheWrite: decimal.nullish(),
    output: decimal.default('0'),
    per: z.number().int().positive().default(1_000_000),
    perImage: decimal.optional(),
    perMillionCharacters: decimal.optional(),
    perMinute: decimal.optional(),
  }),
]);
export type Pricing = z.output<typeof pricingSchema>;

/** Prices are read with 12 decimals, amounts have 9 (nano-units). */
const PRICE_DECIMALS = 12;
const AMOUNT_DECIMALS = 9;

/** A usage with its cost, rounded half up to a nano-unit once. */
export const billed = (usage: TokenUsage, pricing: Pricing, currency: string): InvocationUsage => ({
  ...usage,
  cost: decimalText(costOf(usage, pricing), AMOUNT_DECIMALS),
  currency,
  isIncludedUsage: false,
});

/** The input price applies to the part of the input that was not cached (specification, LLM invocation). Nano-units. */
const costOf = (usage: TokenUsage, pricing: Pricing): bigint => {
  if (pricing === 'free') return 0n;
  const input = scaled(pricing.input);
  const cached = typeof pricing.cachedInput !== 'string' ? input / 10n : scaled(pricing.cachedInput);
  const written = typeof pricing.cacheWrite !== 'string' ? input : scaled(pricing.cacheWrite);
  const { noCacheTokens, cacheReadTokens, cacheWriteTokens } = usage.inputTokenDetails;
  const total = BigInt(noCacheTokens) * input + BigInt(cacheReadTokens) * cached + BigInt(cacheWriteTokens) * written + BigInt(usage.outputTokens) * scaled(pricing.output);
  const unit = BigInt(pricing.per) * 10n ** BigInt(PRICE_DECIMALS - AMOUNT_DECIMALS);
  return (total + unit / 2n) / unit;
};

const scaled = (price: string): bigint => {
  const [whole = '0', fraction = ''] = price.split('.');
  return BigInt(whole + fraction.padEnd(PRICE_DECIMALS, '0'));
};

/** `4217000n` with 9 decimals is `0.004217`. */
const decimalText = (amount: bigint, decimals: number): string => {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return digits.slice(0, -decimals) + (fraction === '' ? '' : `.${fraction}`);
};

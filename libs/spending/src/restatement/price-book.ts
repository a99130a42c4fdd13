import { type EventCodec, reject, type StreamReader, streamOf } from '@app/kernel';
import { costOf, modelDecider, type Pricing, pricingSchema } from '@app/models';
import type { RecordedInvocation } from '../invocations/invocation.events';
import { tokensOf } from '../usage/tokens-of';
import type { RestatedCall } from './restatement.events';

/** Prices that a model had from a time on, ISO 8601 UTC. */
export interface OfferedPrices {
  readonly since: string;
  readonly priceVersion: string;
  readonly pricing: Pricing;
}

/** The prices that a model ever had, oldest first; those of a model that was withdrawn stay known. */
export const priceHistory = async (
  log: StreamReader,
  codec: EventCodec,
  model: string,
): Promise<readonly OfferedPrices[]> => {
  const events = await codec.decode(await log.readStream(streamOf(modelDecider.category, model)));
  return events
    .filter(({ type }) => type === 'ModelOffered')
    .map(({ data, context }) => ({
      since: context.recordedAt,
      priceVersion: String(data['priceVersion']),
      pricing: pricingSchema.parse(data['pricing']),
    }));
};

/**
 * The prices to restate a model's calls under. Undefined if it has none of that kind: no version was named for it, or
 * it was not offered yet. Rejects `invalid_body` for a version that the model never had.
 */
export const pricesFor = (
  model: string,
  history: readonly OfferedPrices[],
  wanted: Readonly<Partial<Record<string, string>>>,
): OfferedPrices | undefined => {
  const { at } = wanted;
  if (at !== undefined && isTime(at)) return history.findLast(({ since }) => since <= at);
  const version = Object.hasOwn(wanted, model) ? wanted[model] : undefined;
  if (version === undefined) return undefined;
  return (
    history.find(({ priceVersion }) => priceVersion === version) ??
    reject('invalid_body', { path: `prices.${model}`, reason: 'unknown_price_version' })
  );
};

/** The models that prices name. A model may be called `at`, but no version reads as a time. */
export const modelsNamed = (wanted: Readonly<Partial<Record<string, string>>>): readonly string[] =>
  Object.keys(wanted).filter((key) => !isTime(wanted[key] ?? ''));

const isTime = (text: string): boolean => text.includes('T');

/** A call under other prices. If there are none for it, or they are in another currency, it costs what was billed. */
export const restatedUnder = (invocation: RecordedInvocation, prices: OfferedPrices | undefined): RestatedCall => {
  const { id, at, model, apiKeyId, cost: billed, currency } = invocation;
  const applies = prices !== undefined && (prices.pricing === 'free' || prices.pricing.currency === currency);
  const priced = applies
    ? {
        cost: costOf(tokensOf(invocation), prices.pricing, invocation.units).toString(),
        priceVersion: prices.priceVersion,
      }
    : { cost: billed, priceVersion: null };
  return { id, at, model, apiKeyId, billed, ...priced };
};

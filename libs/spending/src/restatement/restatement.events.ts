import { defineEvent, type EventsOf, nanoText } from '@app/kernel';
import { z } from 'zod';

const time = z.iso.datetime();
const priceVersion = z
  .string()
  .regex(/^[0-9a-f]{16}$/, 'must be a price version')
  .meta({ examples: ['0123456789abcdef'] });

/** The prices to restate under: those of a time, or a version for each model that is named. */
export const restatedPrices = z.union([
  z.strictObject({ at: time.describe('The time whose prices to use.') }),
  z.record(z.string(), priceVersion),
]);

/** A call in the second ledger. Costs are nano-units. */
export const restatedCall = z.strictObject({
  id: z.uuid(),
  at: time,
  model: z.string(),
  apiKeyId: z.string().nullable(),
  billed: nanoText,
  cost: nanoText,
  /** Null where no other prices are known: the cost is what was billed. */
  priceVersion: z.string().nullable(),
});
export type RestatedCall = z.output<typeof restatedCall>;

const sums = z.strictObject({ calls: z.number().int().nonnegative(), billed: nanoText, restated: nanoText });

export const restatementBegun = defineEvent({
  type: 'RestatementBegun',
  description:
    'An operator asked what the calls of a period would have cost under other prices. Billed costs do not change.',
  data: z.strictObject({ restatementId: z.uuid(), from: time, to: time, prices: restatedPrices, currency: z.string() }),
});

export const invocationsRestated = defineEvent({
  type: 'InvocationsRestated',
  description:
    'Entries of the second ledger: the billed cost of each call, and its cost under the other prices. Ordered by the start of the calls.',
  data: z.strictObject({ calls: z.array(restatedCall).min(1) }),
});

export const restatementClosed = defineEvent({
  type: 'RestatementClosed',
  description:
    'The second ledger of a period is complete. Holds its sums: in total, by model and by API key. `kept` is the number of calls without other prices, which keep their billed cost.',
  data: z.strictObject({
    ...sums.shape,
    kept: z.number().int().nonnegative(),
    models: z.array(z.strictObject({ key: z.string(), ...sums.shape })),
    apiKeys: z.array(z.strictObject({ key: z.string().nullable(), ...sums.shape })),
  }),
});

export const restatementEvents = [restatementBegun, invocationsRestated, restatementClosed] as const;
export type RestatementEvent = EventsOf<typeof restatementEvents>;

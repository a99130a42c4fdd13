import { exposed, instant, listQuery, presenter } from '@app/http';
import { decimalAmount, givenAmount, nanoUnits, timeZoneName } from '@app/kernel';
import { limitScope, limitTerms, type ProposedLimit, restatedPrices, whatIfAnswer } from '@app/spending';
import { type RestatementRow, restatementRow } from '@projections/restatements';
import { z } from 'zod';

const priceVersions = restatedPrices.options[1];

export const newRestatement = z.strictObject({
  from: instant.describe('The start of the period, ISO 8601 with an offset.'),
  to: instant.optional().describe('The end of the period; now by default.'),
  prices: z
    .union([
      z.literal('current'),
      z.strictObject({ at: instant.describe('The time whose prices hold.') }),
      priceVersions,
    ])
    .default('current')
    .describe('The prices to restate by: the current ones, those of a time, or versions by model.'),
});

export const restatementsQuery = listQuery({});

const comparison = z.object({
  calls: z.number().int().describe('How many calls.'),
  billed: z.string().describe('What was billed, a decimal.'),
  restated: z.string().describe('What they cost under the other prices, a decimal.'),
  difference: z.string().describe('Restated less billed; negative where too much was billed.'),
});

/** What calls were billed, beside what they cost under other prices. Amounts are decimals; a negative difference was billed too much. */
export const restatementView = presenter<RestatementRow>(
  'Restatement',
  exposed(restatementRow, {
    id: true,
    from: 'The start of the period, ISO 8601 in UTC.',
    to: 'The end of the period, ISO 8601 in UTC.',
    prices: 'The prices that it restates by.',
    currency: 'The currency of the amounts.',
    actor: 'Who asked for it.',
    startedAt: 'When it began, ISO 8601 in UTC.',
    closedAt: 'When its ledger was complete; null until then.',
  }).extend({
    totals: comparison
      .extend({ kept: z.number().int().describe('Calls whose cost stays, since they have no other price.') })
      .nullable()
      .describe('All calls; null until it is closed.'),
    models: z.array(comparison.extend({ key: z.string().describe('The model.') })).describe('By model.'),
    apiKeys: z
      .array(comparison.extend({ key: z.string().nullable().describe('The API key; null for calls without one.') }))
      .describe('By API key.'),
  }),
  ({ sums, ...row }) => {
    if (sums === null) return { ...row, totals: null, models: [], apiKeys: [] };
    const { models, apiKeys, ...totals } = sums;
    return { ...row, totals: compared(totals), models: models.map(compared), apiKeys: apiKeys.map(compared) };
  },
);

const compared = <Sums extends { readonly billed: string; readonly restated: string }>(sums: Sums) => {
  const [billed, restated] = [BigInt(sums.billed), BigInt(sums.restated)];
  return {
    ...sums,
    billed: decimalAmount(billed),
    restated: decimalAmount(restated),
    difference: signedAmount(restated - billed),
  };
};

const signedAmount = (nano: bigint): string => (nano < 0n ? `-${decimalAmount(-nano)}` : decimalAmount(nano));

const { type } = limitScope.shape;
const { window, action } = limitTerms.shape;

const proposedLimit = z.strictObject({
  scope: z
    .strictObject({
      type: type.describe('What the limit is for.'),
      id: z.uuid().optional().describe('Its id; without one, each of this kind has the limit.'),
    })
    .refine((scope) => scope.type !== 'instance' || scope.id === undefined, {
      path: ['id'],
      message: 'Must be left out: the instance has no id.',
    })
    .describe('What the limit is for.'),
  amount: givenAmount.describe('The amount, a decimal.'),
  window: window.describe('The window that it is counted in.'),
  timeZone: timeZoneName.optional().describe('The time zone of the window.'),
  action: action.default('block').describe('What happens beyond it.'),
  includedAmount: givenAmount.nullable().default(null).describe('The part of the amount that is included usage.'),
});

export const whatIfBody = z.strictObject({
  from: instant.describe('The start of the period, ISO 8601 with an offset.'),
  to: instant.optional().describe('The end of the period; now by default.'),
  limit: proposedLimit.describe('The limit that is tried.'),
});

/** A proposed limit in nano-units. */
export const proposed = (
  { amount, includedAmount, timeZone, ...limit }: z.output<typeof proposedLimit>,
  ownTimeZone: string,
): ProposedLimit => ({
  ...limit,
  amount: nanoUnits(amount),
  included: includedAmount === null ? null : nanoUnits(includedAmount),
  timeZone: timeZone ?? ownTimeZone,
});

export const shownWhatIf = whatIfAnswer
  .extend({
    from: z.string().describe('The start of the period, ISO 8601 in UTC.'),
    to: z.string().describe('The end of the period, ISO 8601 in UTC.'),
    currency: z.string().describe('The currency of the amounts.'),
  })
  .meta({ id: 'SpendLimitSimulation' });

import { exposed, instant, listQuery, presenter } from '@app/http';
import { decimalAmount, givenAmount, nanoUnits, timeZoneName } from '@app/kernel';
import { limitScope, limitTerms, type ProposedLimit, restatedPrices, whatIfAnswer } from '@app/spending';
import { type RestatementRow, restatementRow } from '@projections/restatements';
import { z } from 'zod';

const priceVersions = restatedPrices.options[1];

export const newRestatement = z.strictObject({
  from: instant.describe('The start of the period, ISO 8601 with an offset.'),
  to: instant.optional().describe('The end of the period. By default, now.'),
  prices: z
    .union([
      z.literal('current'),
      z.strictObject({ at: instant.describe('The time whose prices to use.') }),
      priceVersions,
    ])
    .default('current')
    .describe('The prices to use: the current ones, those at a time, or a version for each model.'),
});

export const restatementsQuery = listQuery({});

const comparison = z.object({
  calls: z.number().int().describe('The number of calls.'),
  billed: z.string().describe('What was billed, a decimal.'),
  restated: z.string().describe('Their cost under the other prices, a decimal.'),
  difference: z.string().describe('Restated minus billed; negative if too much was billed.'),
});

/** What calls were billed, beside what they cost under other prices. Amounts are decimals; a negative difference was billed too much. */
export const restatementView = presenter<RestatementRow>(
  'Restatement',
  exposed(restatementRow, {
    id: true,
    from: 'The start of the period, ISO 8601 in UTC.',
    to: 'The end of the period, ISO 8601 in UTC.',
    prices: 'The prices that it uses.',
    currency: 'The currency of the amounts.',
    actor: 'The user who requested it.',
    startedAt: 'When it started, ISO 8601 in UTC.',
    closedAt: 'When its ledger was completed; null until then.',
  }).extend({
    totals: comparison
      .extend({ kept: z.number().int().describe('Calls whose cost is unchanged because no other price exists.') })
      .nullable()
      .describe('All calls; null until it is complete.'),
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
      type: type.describe('What the limit applies to.'),
      id: z.uuid().optional().describe('Its id. Without one, each of this kind gets the limit.'),
    })
    .refine((scope) => scope.type !== 'instance' || scope.id === undefined, {
      path: ['id'],
      message: 'Must be left out: the instance has no id.',
    })
    .describe('What the limit applies to.'),
  amount: givenAmount.describe('The amount, a decimal.'),
  window: window.describe('The window that it applies to.'),
  timeZone: timeZoneName.optional().describe('The time zone of the window.'),
  action: action.default('block').describe('What happens when it is exceeded.'),
  includedAmount: givenAmount
    .nullable()
    .default(null)
    .describe('The part of the amount that counts as included usage.'),
});

export const whatIfBody = z.strictObject({
  from: instant.describe('The start of the period, ISO 8601 with an offset.'),
  to: instant.optional().describe('The end of the period. By default, now.'),
  limit: proposedLimit.describe('The limit to try.'),
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

import { decimalAmount, givenAmount, nanoUnits, timeZoneName } from '@app/kernel';
import { limitScope, limitTerms, type ProposedLimit, restatedPrices, whatIfAnswer } from '@app/spending';
import { type RestatementRow, restatementRow } from '@projections/restatements';
import { z } from 'zod';
import { instant, listQuery, presenter } from '../http';

const priceVersions = restatedPrices.options[1];

export const newRestatement = z.strictObject({
  from: instant,
  to: instant.optional(),
  prices: z.union([z.literal('current'), z.strictObject({ at: instant }), priceVersions]).default('current'),
});

export const restatementsQuery = listQuery({});

const comparison = z.object({
  calls: z.number().int(),
  billed: z.string(),
  restated: z.string(),
  difference: z.string(),
});

/** What calls were billed, beside what they cost under other prices. Amounts are decimals; a negative difference was billed too much. */
export const restatementView = presenter<RestatementRow>(
  restatementRow.omit({ sums: true }).extend({
    totals: comparison.extend({ kept: z.number().int() }).nullable(),
    models: z.array(comparison.extend({ key: z.string() })),
    apiKeys: z.array(comparison.extend({ key: z.string().nullable() })),
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
    .strictObject({ type, id: z.uuid().optional() })
    .refine((scope) => scope.type !== 'instance' || scope.id === undefined, {
      path: ['id'],
      message: 'Must be left out: the instance has no id.',
    }),
  amount: givenAmount,
  window,
  timeZone: timeZoneName.optional(),
  action: action.default('block'),
  includedAmount: givenAmount.nullable().default(null),
});

export const whatIfBody = z.strictObject({ from: instant, to: instant.optional(), limit: proposedLimit });

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

export const shownWhatIf = whatIfAnswer.extend({ from: z.string(), to: z.string(), currency: z.string() });

import { listQuery } from '@app/http';
import { givenAmount, timeZoneName } from '@app/kernel';
import { type LimitScope, limitTerms } from '@app/spending';
import { z } from 'zod';
import { invocationView } from '../usage/usage-schemas';

const { window, action } = limitTerms.shape;

const scope = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('instance').describe('All model calls.') }),
    z.strictObject({
      type: z.enum(['space', 'agent', 'user', 'apiKey']).describe('What the limit is for.'),
      id: z.uuid().describe('Its id.'),
    }),
  ])
  .transform((given): LimitScope => ({ id: null, ...given }));

export const newLimit = z.strictObject({
  scope: scope.describe('What it is for.'),
  amount: givenAmount.describe('The amount, a decimal.'),
  window: window.describe('The window that it is counted in.'),
  timeZone: timeZoneName.optional().describe('The time zone of the window.'),
  action: action.default('block').describe('What happens beyond it: calls are rejected, or only noted.'),
  includedAmount: givenAmount
    .nullable()
    .default(null)
    .describe('The part of the amount that is included usage; null: none.'),
});

/** Fields absent stay. `id` is for the bare path alone. */
export const limitUpdate = z
  .strictObject({
    id: z.uuid().optional().describe('The id of the spend limit; for the path without one.'),
    amount: givenAmount.describe('The amount, a decimal.'),
    window: window.describe('The window that it is counted in.'),
    timeZone: timeZoneName.describe('The time zone of the window.'),
    action: action.describe('What happens beyond it: calls are rejected, or only noted.'),
    includedAmount: givenAmount.nullable().describe('The part of the amount that is included usage; null: none.'),
  })
  .partial();

export const limitPlace = z.strictObject({ id: z.uuid().optional().describe('The id of the spend limit.') });
export const limitsQuery = listQuery({});
export const explainQuery = listQuery({});

/** A limit and where its window stands. Amounts are decimals in `currency`. */
export const shownLimit = z
  .object({
    id: z.string().describe('Its id.'),
    scope: z
      .object({
        type: z.string().describe('What it is for.'),
        id: z.string().optional().describe('Its id.'),
      })
      .describe('What it is for.'),
    amount: z.string().describe('The amount, a decimal.'),
    currency: z.string().describe('The currency of the amounts.'),
    window: window.describe('The window that it is counted in.'),
    timeZone: z.string().describe('The time zone of the window.'),
    action: action.describe('What happens beyond it: calls are rejected, or only noted.'),
    includedAmount: z.string().optional().describe('The part of the amount that is included usage.'),
    spent: z.string().describe('What was spent in the window, a decimal.'),
    held: z.string().describe('What calls that run may still cost, a decimal.'),
    remaining: z.string().describe('What is left, a decimal.'),
    overage: z.string().describe('What was spent beyond it, a decimal.'),
    windowStart: z.string().nullable().describe('When the window began; null for one over all time.'),
    resetsAt: z.string().nullable().describe('When the window ends; null for one over all time.'),
  })
  .meta({ id: 'SpendLimit' });
export type ShownLimit = z.output<typeof shownLimit>;

/** What is set aside for a call that has not ended. */
const shownHold = z.object({
  invocationId: z.string().describe('The id of the call.'),
  amount: z.string().describe('The amount, a decimal.'),
  windowStart: z.string().nullable().describe('When its window began; null for one over all time.'),
});

/** Why a limit stands where it does: calls that ended in its window, newest first, and what is held for those that run. */
export const explained = z
  .object({
    limit: shownLimit.describe('The limit.'),
    holds: z.array(shownHold).describe('What is held for calls that run.'),
    items: z.array(invocationView.schema).describe('Calls that ended in the window, newest first.'),
    nextCursor: z.string().nullable().describe('Where the next page begins, for `cursor`; null at the end.'),
  })
  .meta({ id: 'SpendLimitExplanation' });

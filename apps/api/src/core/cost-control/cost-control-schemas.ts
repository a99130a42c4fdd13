import { listQuery, presenter } from '@app/http';
import { givenAmount, timeZoneName } from '@app/kernel';
import { type LimitScope, limitTerms } from '@app/spending';
import { z } from 'zod';
import { invocationView } from '../usage/usage-schemas';

const { window, action } = limitTerms.shape;

const scope = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('instance').describe('All model calls.') }),
    z.strictObject({
      type: z.enum(['space', 'agent', 'user', 'apiKey']).describe('What the limit applies to.'),
      id: z.uuid().describe('Its id.'),
    }),
  ])
  .transform((given): LimitScope => ({ id: null, ...given }));

export const newLimit = z.strictObject({
  scope: scope.describe('What it is for.'),
  amount: givenAmount.describe('The amount, a decimal.'),
  window: window.describe('The window that it applies to.'),
  timeZone: timeZoneName.optional().describe('The time zone of the window.'),
  action: action
    .default('block')
    .describe('What happens when it is exceeded: calls are rejected, or it is only recorded.'),
  includedAmount: givenAmount
    .nullable()
    .default(null)
    .describe('The part of the amount that counts as included usage; null for none.'),
});

/** Fields absent stay. `id` is for the bare path alone. */
export const limitUpdate = z
  .strictObject({
    id: z.uuid().optional().describe('The id of the spend limit; for the path without one.'),
    amount: givenAmount.describe('The amount, a decimal.'),
    window: window.describe('The window that it applies to.'),
    timeZone: timeZoneName.describe('The time zone of the window.'),
    action: action.describe('What happens when it is exceeded: calls are rejected, or it is only recorded.'),
    includedAmount: givenAmount
      .nullable()
      .describe('The part of the amount that counts as included usage; null for none.'),
  })
  .partial();

export const limitPlace = z.strictObject({ id: z.uuid().optional().describe('The id of the spend limit.') });
export const limitsQuery = listQuery({});
export const explainQuery = listQuery({});

/** A limit and where its window stands. Amounts are decimals in `currency`. */
const limitFields = z.object({
  id: z.string().describe('Its id.'),
  scope: z
    .object({
      type: z.string().describe('What it is for.'),
      id: z.string().optional().describe('Its id.'),
    })
    .describe('What it is for.'),
  amount: z.string().describe('The amount, a decimal.'),
  currency: z.string().describe('The currency of the amounts.'),
  window: window.describe('The window that it applies to.'),
  timeZone: z.string().describe('The time zone of the window.'),
  action: action.describe('What happens when it is exceeded: calls are rejected, or it is only recorded.'),
  includedAmount: z.string().optional().describe('The part of the amount that counts as included usage.'),
  spent: z.string().describe('The amount spent in the window, a decimal.'),
  held: z.string().describe('The amount reserved for running calls, a decimal.'),
  remaining: z.string().describe('The amount left, a decimal.'),
  overage: z.string().describe('The amount spent beyond the limit, a decimal.'),
  windowStart: z.string().nullable().describe('When the window started; null if it covers all time.'),
  resetsAt: z.string().nullable().describe('When the window ends; null if it covers all time.'),
});
export type ShownLimit = z.output<typeof limitFields>;
export const limitView = presenter<ShownLimit>('SpendLimit', limitFields);

/** What is set aside for a call that has not ended. */
const shownHold = z.object({
  invocationId: z.string().describe('The id of the call.'),
  amount: z.string().describe('The amount, a decimal.'),
  windowStart: z.string().nullable().describe('When its window started; null if it covers all time.'),
});

/** Why a limit stands where it does: calls that ended in its window, newest first, and what is held for those that run. */
export const explained = z
  .object({
    limit: limitView.schema.describe('The limit.'),
    holds: z.array(shownHold).describe('Reservations of running calls.'),
    items: z.array(invocationView.schema).describe('Calls that ended in the window, newest first.'),
    nextCursor: z.string().nullable().describe('The `cursor` of the next page; null on the last page.'),
  })
  .meta({ id: 'SpendLimitExplanation' });

import { givenAmount, timeZoneName } from '@app/kernel';
import { type LimitScope, limitTerms } from '@app/spending';
import { z } from 'zod';
import { listQuery } from '../../http';
import { invocationView } from '../usage/usage-schemas';

const { window, action } = limitTerms.shape;

const scope = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('instance') }),
    z.strictObject({ type: z.enum(['space', 'agent', 'user', 'apiKey']), id: z.uuid() }),
  ])
  .transform((given): LimitScope => ({ id: null, ...given }));

export const newLimit = z.strictObject({
  scope,
  amount: givenAmount,
  window,
  timeZone: timeZoneName.optional(),
  action: action.default('block'),
  includedAmount: givenAmount.nullable().default(null),
});

/** Fields absent stay. `id` is for the bare path alone. */
export const limitChange = z
  .strictObject({
    id: z.uuid().optional(),
    amount: givenAmount,
    window,
    timeZone: timeZoneName,
    action,
    includedAmount: givenAmount.nullable(),
  })
  .partial();

export const limitPlace = z.strictObject({ id: z.uuid().optional() });
export const limitsQuery = listQuery({});
export const explainQuery = listQuery({});

/** A limit and where its window stands. Amounts are decimals in `currency`. */
export const shownLimit = z.object({
  id: z.string(),
  scope: z.object({ type: z.string(), id: z.string().optional() }),
  amount: z.string(),
  currency: z.string(),
  window,
  timeZone: z.string(),
  action,
  includedAmount: z.string().optional(),
  spent: z.string(),
  held: z.string(),
  remaining: z.string(),
  overage: z.string(),
  windowStart: z.string().nullable(),
  resetsAt: z.string().nullable(),
});
export type ShownLimit = z.output<typeof shownLimit>;

/** What is set aside for a call that has not ended. */
const shownHold = z.object({ invocationId: z.string(), amount: z.string(), windowStart: z.string().nullable() });

/** Why a limit stands where it does: calls that ended in its window, newest first, and what is held for those that run. */
export const explained = z.object({
  limit: shownLimit,
  holds: z.array(shownHold),
  items: z.array(invocationView.schema),
  nextCursor: z.string().nullable(),
});

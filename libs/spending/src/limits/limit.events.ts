import { amountText, defineEvent, type EventsOf, timeZoneName } from '@app/kernel';
import { z } from 'zod';

/** The scope of a limit. `id` is null for the instance. */
export const limitScope = z.strictObject({
  type: z.enum(['instance', 'space', 'agent', 'user', 'apiKey']),
  id: z.uuid().nullable(),
});
export type LimitScope = z.output<typeof limitScope>;

/** How much may be spent in a window, and what happens beyond. Amounts are decimals in `currency`. */
export const limitTerms = z.strictObject({
  amount: amountText,
  currency: z.string(),
  window: z.enum(['day', 'week', 'month', 'total']),
  timeZone: timeZoneName,
  action: z.enum(['block', 'warn']),
  /** The part of the window's spending that a subscription covers; null for none. */
  includedAmount: amountText.nullable(),
});
export type LimitTerms = z.output<typeof limitTerms>;

export const spendLimitSet = defineEvent({
  type: 'SpendLimitSet',
  description:
    'A spend limit was set or changed. Holds all its terms. The limit of an API key is stored in the key instead.',
  data: limitTerms.extend({ limitId: z.uuid(), scope: limitScope }),
});

export const spendLimitRemoved = defineEvent({
  type: 'SpendLimitRemoved',
  description: 'A spend limit was removed.',
  data: z.strictObject({ limitId: z.uuid() }),
});

export const limitEvents = [spendLimitSet, spendLimitRemoved] as const;
export type LimitEvent = EventsOf<typeof limitEvents>;

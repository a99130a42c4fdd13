import { decimalAmount, defineIntegration, type Integrations, integrationEvent } from '@app/kernel';
import { z } from 'zod';
import type { AccountEvent } from './account.events';

const amount = z.string();

const reached = defineIntegration({
  name: 'limit.reached',
  version: 1,
  subject: 'limits',
  description:
    'What was spent in a window of a spend limit has come to its amount. `windowStart` is null for a total; amounts are decimals in the currency of the instance. Told once a window, unless the amount changes.',
  data: z.object({
    limitId: z.uuid(),
    windowStart: z.iso.datetime().nullable(),
    spent: amount,
    amount,
    action: z.enum(['block', 'warn']),
  }),
});

export const accountIntegrations: Integrations<AccountEvent> = {
  definitions: [reached],
  mapping: {
    SpendLimitReached: ({ window, spent, amount: most, action }, limitId) =>
      integrationEvent(reached, {
        limitId,
        windowStart: window,
        spent: decimalAmount(BigInt(spent)),
        amount: decimalAmount(BigInt(most)),
        action,
      }),
  },
};

import { amountText, timeZoneName } from '@app/kernel';
import { z } from 'zod';

/**
 * Most that a key may spend in a window: a decimal amount in the currency of the instance. It is the key's limit of cost
 * control, which may also name a time zone, an included amount, and that it only warns.
 */
export const usageLimit = z.strictObject({
  amount: amountText.describe('The amount, a decimal.'),
  window: z.enum(['day', 'week', 'month', 'total']).describe('The window that it is counted in.'),
  timeZone: timeZoneName.exactOptional().describe('The time zone of the window.'),
  action: z.enum(['block', 'warn']).exactOptional().describe('What happens beyond it.'),
  includedAmount: amountText.nullable().exactOptional().describe('The part of the amount that is included usage.'),
});
export type UsageLimit = z.output<typeof usageLimit>;

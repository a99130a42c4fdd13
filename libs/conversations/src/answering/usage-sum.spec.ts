import { type InvocationUsage, usageOf } from '@app/models';
import { usageSum } from './usage-sum';

const usage = (cost: string, currency: string): InvocationUsage => ({
  ...usageOf({ input: 3, output: 2 }),
  cost,
  currency,
  isIncludedUsage: false,
});

it('calls of one answer add up, and never what they cost in two currencies', () => {
  expect(usageSum(usage('1.5', 'EUR'), usage('2', 'EUR'))).toMatchObject({ totalTokens: 10, cost: '3.5' });
  expect(usageSum(usage('1.5', 'USD'), usage('2', 'EUR'))).toMatchObject({
    totalTokens: 10,
    cost: '2',
    currency: 'EUR',
  });
});

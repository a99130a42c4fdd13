import { z } from 'zod';

/** Decimals of an amount: it is counted in nano-units, integers, never in floating point. */
const DECIMALS = 9;

/** An amount as the wire has it: a decimal string with at most 9 places. */
export const amountText = z
  .string()
  .regex(/^(0|[1-9]\d{0,11})(\.\d{1,9})?$/, 'must be a decimal amount with at most 9 places')
  .meta({ examples: ['1.5'] });

/** An amount as clients give it: a decimal string or a number, which must say the same with 9 places. */
export const givenAmount = z.union([z.number().nonnegative().transform(plainText), z.string()]).pipe(amountText);

/** An amount as events have it: nano-units in decimal digits. */
export const nanoText = z
  .string()
  .regex(/^(0|[1-9]\d{0,30})$/)
  .meta({ examples: ['1500000000'] });

/** `0.004217` is `4217000n`. */
export const nanoUnits = (amount: string): bigint => {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
};

/** `4217000n` is `0.004217`. */
export const decimalAmount = (nano: bigint): string => {
  const digits = nano.toString().padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
  return digits.slice(0, -DECIMALS) + (fraction === '' ? '' : `.${fraction}`);
};

/** A number without an exponent; one that says more than 9 places keeps them, and is rejected for it. */
function plainText(amount: number): string {
  const nano = Math.round(amount * 10 ** DECIMALS);
  // The largest numbers are finite, and no longer so in nano-units.
  const text = Number.isFinite(nano) ? decimalAmount(BigInt(nano)) : '';
  return Number(text) === amount ? text : String(amount);
}

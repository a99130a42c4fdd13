import * as fc from 'fast-check';
import { decimalAmount, givenAmount, nanoUnits } from './money';

describe('an amount', () => {
  it('is the same as text and in nano-units', () =>
    fc.assert(fc.property(fc.bigInt(0n, 10n ** 21n), (nano) => expect(nanoUnits(decimalAmount(nano))).toBe(nano))));

  it.each<[string | number, string]>([
    [5, '5'],
    [0.1, '0.1'],
    [0.0000001, '0.0000001'],
    [1e-9, '0.000000001'],
    ['12.50', '12.50'],
    [123456789.5, '123456789.5'],
  ])('is taken as %p', (given, text) => expect(givenAmount.parse(given)).toBe(text));

  it.each([1e-10, 0.1234567891, -1, 1e12, 1e300, Number.MAX_VALUE, Infinity, '1e3', '.5', '', '01', NaN])(
    'is rejected as %p',
    (given) => expect(givenAmount.safeParse(given).success).toBe(false),
  );
});

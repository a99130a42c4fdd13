import { instant, InvalidInput } from '@app/http';
import { windowAt } from '@app/spending';

/** Query parameters of a period. */
export const rangeParameters = {
  from: instant.optional().describe('The start of the period. By default, the start of the month.'),
  to: instant.optional().describe('The end of the period, exclusive. By default, now.'),
};

export interface AskedRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * The period of a report: `from` is part of it, `to` is not. By default it ends now and begins with the month, in the
 * instance's time zone, that it ends in.
 */
export const rangeOf = (
  { from, to }: AskedRange,
  now: Date,
  timeZone: string,
): { readonly from: string; readonly to: string } => {
  const end = to ?? now.toISOString();
  return orderedRange(from ?? startOfMonth(end, timeZone), end);
};

/** A period; rejects one that ends before it begins with 400. */
export const orderedRange = (
  from: string,
  to: string,
  code: 'invalid_parameter' | 'invalid_body' = 'invalid_parameter',
): { readonly from: string; readonly to: string } => {
  if (from > to)
    throw new InvalidInput(code, [{ path: 'from', code: 'out_of_order', message: 'Must not be later than `to`.' }]);
  return { from, to };
};

/** Of the month whose last moment a period may end with. */
const startOfMonth = (end: string, timeZone: string): string =>
  windowAt({ window: 'month', timeZone, anchor: null }, Date.parse(end) - 1).start ?? end;

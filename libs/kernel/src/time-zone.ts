import { z } from 'zod';

const isTimeZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    // A RangeError: the platform does not know the zone.
    return false;
  }
};

/** Name of a time zone, such as `Europe/Berlin`. */
export const timeZoneName = z
  .string()
  .max(100)
  .refine(isTimeZone, 'must be an IANA time zone')
  .meta({ examples: ['UTC'] });

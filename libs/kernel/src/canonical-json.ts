/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * JSON text with sorted object keys: equal values give equal bytes. `undefined` members are left out as in JSON. Its bytes are
 * signed (seals), hashed and stored, so it stays as it is: libraries, which follow RFC 8785, place keys that are whole numbers
 * among the others, where `JSON.stringify` has them first, by number.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, sortKeys);

const sortKeys = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

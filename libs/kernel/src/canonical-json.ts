/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A record in the form it is stored in: the compiler takes it for JSON, and lets JSON be cast to it, where all its fields are. An interface it does not. */
export type Plain<T> = T extends Json ? T : { readonly [Field in keyof T]: Plain<T[Field]> };

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

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A record as stored JSON. Lets the compiler convert between JSON and an interface whose fields are JSON. */
export type Plain<T> = T extends Json ? T : { readonly [Field in keyof T]: Plain<T[Field]> };

/**
 * JSON text with sorted object keys: equal values give equal bytes. Leaves out `undefined` members, as JSON does. Its
 * bytes are signed (seals), hashed and stored, so it must not change. Libraries that follow RFC 8785 sort whole-
 * number keys among the others; `JSON.stringify` puts them first, by number.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, sortKeys);

const sortKeys = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

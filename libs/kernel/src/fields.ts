import { canonicalJson } from './canonical-json';

/** An object without the members that are `undefined`. */
export type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Leaves out the members that are `undefined`. */
export const givenFields = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;

/** The fields of a change that differ, as JSON, from the current ones. */
export const changedFields = <T extends object>(
  fields: T,
  current: { readonly [K in keyof T]?: unknown },
): Given<Partial<T>> =>
  givenFields(
    Object.fromEntries(
      Object.entries(fields).filter(
        ([name, value]) => canonicalJson(value) !== canonicalJson(current[name as keyof T]),
      ),
    ) as Partial<T>,
  );

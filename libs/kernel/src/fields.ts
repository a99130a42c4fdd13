import { canonicalJson } from './canonical-json';

/** The members of an object that are given: `undefined` stands for absent. */
export type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

export const givenFields = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;

/** Of the fields that a change gives, those that differ from what stands, as JSON. */
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

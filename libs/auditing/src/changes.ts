import type { Json } from '@app/kernel';

/** One difference between two states of an object. */
export interface Change {
  /** Path from the object's root as in code: `sampling.temperature.value`, `tags[0].name`. */
  readonly path: string;
  /** Null where the member did not exist. */
  readonly before: Json;
  /** Null where the member no longer exists. */
  readonly after: Json;
}

type Members = Readonly<Record<string, Json>>;

/** What differs between two states, leaf by leaf, in the order of the paths. A state that does not exist is null. */
export const changesBetween = (before: Members | null, after: Members | null): readonly Change[] =>
  membersOf('', before ?? {}, after ?? {});

const membersOf = (parent: string, before: Members, after: Members): readonly Change[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .toSorted()
    .flatMap((name) => valuesAt(parent === '' ? name : `${parent}.${name}`, before[name] ?? null, after[name] ?? null));

const itemsOf = (parent: string, before: readonly Json[], after: readonly Json[]): readonly Change[] =>
  before.flatMap((value, index) => valuesAt(`${parent}[${index}]`, value, after[index] ?? null));

/** Objects are compared member by member, lists of one length item by item; anything else is one change. */
const valuesAt = (path: string, before: Json, after: Json): readonly Change[] => {
  if (isMembers(before) && isMembers(after)) return membersOf(path, before, after);
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return itemsOf(path, before, after);
  return sameJson(before, after) ? [] : [{ path, before, after }];
};

const isMembers = (value: Json): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isPlaceholder(value as Members);

/** `{ erased: true }` and `{ encrypted: true }` stand for a whole value. */
const isPlaceholder = (value: Members): boolean => value['erased'] === true || value['encrypted'] === true;

const sameJson = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b);

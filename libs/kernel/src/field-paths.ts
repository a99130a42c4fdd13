import type { Json } from './canonical-json';

/** A list on the way of a path: what follows is said of each of its items. */
const ITEMS = '[]';
const known = new Map<string, readonly string[]>();

/**
 * Replaces, in place, the values at a path of event data: `name`, `public.windowTitle`, `tools[].name`. Ignores
 * absent ones.
 */
export const changeAt = (data: Record<string, unknown>, path: string, change: (value: unknown) => unknown): void => {
  let steps = known.get(path);
  if (steps === undefined) known.set(path, (steps = path.replaceAll(ITEMS, `.${ITEMS}`).split('.')));
  changeIn(data, steps, change);
};

/** Runs for every sensitive field of every event of a rebuild: most stand at the top. */
const changeIn = (
  holder: Record<string, unknown>,
  steps: readonly string[],
  change: (value: unknown) => unknown,
): void => {
  const step = steps[0] as string;
  if (step === ITEMS) return Object.keys(holder).forEach((index) => changeMember(holder, index, steps, change));
  changeMember(holder, step, steps, change);
};

const changeMember = (
  holder: Record<string, unknown>,
  name: string,
  steps: readonly string[],
  change: (value: unknown) => unknown,
): void => {
  const value = holder[name];
  if (value === undefined || value === null) return;
  if (steps.length === 1) holder[name] = change(value);
  else if (typeof value === 'object') changeIn(value as Record<string, unknown>, steps.slice(1), change);
};

/** The texts at a path of event data, also those in a list there. */
export const textsAt = (data: Readonly<Record<string, unknown>>, path: string): readonly string[] => {
  let found: readonly unknown[] = [data];
  for (const step of path.replaceAll(ITEMS, `.${ITEMS}`).split('.')) {
    found = found.flatMap((holder) =>
      typeof holder !== 'object' || holder === null
        ? []
        : step === ITEMS
          ? Object.values(holder)
          : [(holder as Record<string, unknown>)[step]],
    );
  }
  return found.flat().filter((value) => typeof value === 'string');
};

/**
 * Replaces the values of JSON for which `change` returns one, from the outside in. `change` is given the path of
 * each, in the form of `changeAt`.
 */
export const changedThroughout = (
  value: Json,
  path: string,
  change: (value: Json, path: string) => Json | undefined,
): Json => {
  const changed = change(value, path);
  if (changed !== undefined || typeof value !== 'object' || value === null) return changed ?? value;
  if (Array.isArray(value)) return value.map((item: Json) => changedThroughout(item, path + ITEMS, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      changedThroughout(member, path === '' ? name : `${path}.${name}`, change),
    ]),
  );
};

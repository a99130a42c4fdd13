import type { EventFilter } from './event-log';

/** Whether an event of a type in a stream passes a filter: any of the types, and any of the prefixes. */
export const eventMatcher = (filter: EventFilter | undefined): ((type: string, stream: string) => boolean) => {
  const types = filter?.types && asSet(filter.types);
  const prefixes = filter?.streamPrefixes;
  if (types === undefined && prefixes === undefined) return () => true;
  return (type, stream) =>
    (types?.has(type) ?? true) && (prefixes?.some((prefix) => stream.startsWith(prefix)) ?? true);
};

/** A subscriber uses the same list for every page, and some lists name most types. */
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

const asSet = (types: readonly string[]): ReadonlySet<string> => {
  const known = sets.get(types) ?? new Set(types);
  sets.set(types, known);
  return known;
};

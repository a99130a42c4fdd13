import type { EventFilter } from './event-log';

/** Whether an event of a type in a stream passes a filter: any of the types, and any of the prefixes. */
export const eventMatcher = (filter: EventFilter | undefined): ((type: string, stream: string) => boolean) => {
  const types = filter?.types;
  const prefixes = filter?.streamPrefixes;
  if (types === undefined && prefixes === undefined) return () => true;
  return (type, stream) => (types?.includes(type) ?? true) && (prefixes?.some((prefix) => stream.startsWith(prefix)) ?? true);
};

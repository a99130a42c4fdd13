import type { Json } from './canonical-json';

/** An object of stored JSON; undefined for any other text, as tampering may leave it. */
export const storedObject = (text: string): Readonly<Record<string, Json>> | undefined => {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, Json>>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** The text values of a stored event's metadata; all values of our events are text. Empty after tampering. */
export const storedMeta = (metadata: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(storedObject(metadata) ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

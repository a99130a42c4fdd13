import type { Fields } from './checks';

/** Text as its UTF-8 bytes read as latin1. */
export const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** The byte order mark that some servers begin with. */
const MARK = latin1('\ufeff');

/** Text read as latin1 without the mark at its beginning. */
export const unmarked = (text: string): string => (text.startsWith(MARK) ? text.slice(MARK.length) : text);

/**
 * Changes a JSON object in text that was read as latin1. Parses its UTF-8 bytes, since strings may contain escapes
 * beside bytes, and latin1 text would mix the two.
 */
export const changedJson = (json: string, change: (fields: Fields) => object): string =>
  latin1(JSON.stringify(change(JSON.parse(Buffer.from(json, 'latin1').toString('utf8')) as Fields)));

/** Values of a provider that are nested deeper are none: writing them anew would overflow the stack, and end the process. */
const MOST_NESTED = 1_000;

/** A value in JSON; undefined for what is no JSON, or is nested too deeply. */
export const parsedJson = (text: string): unknown => {
  // Each level has two brackets.
  if (text.length > 2 * MOST_NESTED && isNestedDeeper(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const isNestedDeeper = (json: string): boolean => {
  let [depth, inString] = [0, false];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > MOST_NESTED) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
};

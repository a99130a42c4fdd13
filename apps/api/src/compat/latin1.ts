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

import { isUtf8 } from 'node:buffer';
import { isUnstorableText } from '@app/kernel';
import { InvalidInput, pathText } from './invalid-input';

/** Deepest JSON that is taken (wire, Everywhere). */
export const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Parses a JSON body. Depth is measured on the bytes, before parsing costs anything. Refuses invalid UTF-8, prototype keys,
 * NUL and lone surrogates, naming the field; an empty body is `undefined`, which is never what `null` says.
 */
export const parseJsonBody = (body: Buffer): unknown => {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw refusal('', 'invalid_text', 'The body is not UTF-8.');
  if (depthExceeds(body, MAX_DEPTH)) throw refusal('', 'too_deep', `The body is nested deeper than ${MAX_DEPTH}.`);
  const text = body.toString('utf8');
  const value = parsed(text);
  if (value === null) throw refusal('', 'invalid_type', 'The body must not be null.');
  // What the walk looks for cannot stand in text without one of these.
  if (text.includes('\\u') || text.includes('__proto__') || text.includes('constructor')) checkTexts(value, []);
  return value;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's own message repeats parts of the body.
    throw refusal('', 'invalid_json', 'The body is not valid JSON.');
  }
};

/** True when arrays and objects nest deeper than `limit`; text in quotes does not count. */
export const depthExceeds = (body: Buffer, limit: number): boolean => {
  let depth = 0;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if (byte === QUOTE) index = endOfString(body, index);
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth -= 1;
  }
  return false;
};

/** Index of the quote that ends the string that begins at `start`. */
const endOfString = (body: Buffer, start: number): number => {
  for (let end = body.indexOf(QUOTE, start + 1); end !== -1; end = body.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (body[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return body.length;
};

const checkTexts = (value: unknown, path: readonly (string | number)[]): void => {
  if (typeof value === 'string' && isUnstorableText(value)) throw refusal(pathText(path), 'invalid_text', 'Must not contain NUL or lone surrogates.');
  if (Array.isArray(value)) value.forEach((item, index) => checkTexts(item, [...path, index]));
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (isUnstorableText(key)) throw refusal(pathText([...path, key.replaceAll('\0', '')]), 'invalid_text', 'Names of fields must not contain NUL or lone surrogates.');
      if (isPrototypeKey(key, member)) throw refusal(pathText([...path, key]), 'prototype_key', 'This name of a field is not allowed.');
      checkTexts(member, [...path, key]);
    }
  }
};

const isPrototypeKey = (key: string, value: unknown): boolean =>
  key === '__proto__' || (key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype'));

const refusal = (path: string, code: string, message: string): InvalidInput => new InvalidInput('invalid_body', [{ path, code, message }]);

import { isUtf8 } from 'node:buffer';
import { isUnstorableText } from '@app/kernel';
import { InvalidInput, pathText } from './invalid-input';

/** Accept JSON of at most this depth (wire, Everywhere). */
export const MAX_DEPTH = 64;
/** Accept at most this many values, and fields of all objects together. Parsing 32 MiB of them would block everybody for seconds. */
export const MAX_VALUES = 500_000;
export const MAX_FIELDS = 100_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;

/**
 * Parses a JSON body. Checks depth and size on the bytes, before parsing costs anything. Rejects invalid UTF-8,
 * prototype keys, NUL and lone surrogates, and names the field. An empty body is `undefined`; `null` stays null.
 */
export const parseJsonBody = (body: Buffer): unknown => {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw rejection('', 'invalid_text', 'The body is not UTF-8.');
  const excess = excessOf(body);
  if (excess !== undefined) throw rejection('', excess.code, excess.message);
  const text = body.toString('utf8');
  const value = parsed(text);
  if (value === null) throw rejection('', 'invalid_type', 'The body must not be null.');
  // Without one of these, there is nothing for the walk to find.
  if (text.includes('\\u') || text.includes('__proto__') || text.includes('constructor')) checkTexts(value, []);
  return value;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's message repeats parts of the body.
    throw rejection('', 'invalid_json', 'The body is not valid JSON.');
  }
};

interface Excess {
  readonly code: 'too_deep' | 'too_many_values' | 'too_many_fields';
  readonly message: string;
}

/** Names what JSON has too much of. Ignores text in quotes. */
const excessOf = (body: Buffer): Excess | undefined => {
  let depth = 0;
  let fields = 0;
  // An upper bound: each value follows a bracket or a comma, or comes first.
  let values = 1;
  for (let index = 0; index < body.length; index += 1) {
    switch (body[index]) {
      case QUOTE:
        index = endOfString(body, index);
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth += 1;
        values += 1;
        if (depth > MAX_DEPTH)
          return { code: 'too_deep', message: `The body is nested more than ${MAX_DEPTH} levels deep.` };
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
      case COLON:
        fields += 1;
        break;
      default:
    }
    if (fields > MAX_FIELDS)
      return { code: 'too_many_fields', message: `The body has more than ${MAX_FIELDS} fields.` };
    if (values > MAX_VALUES)
      return { code: 'too_many_values', message: `The body has more than ${MAX_VALUES} values.` };
  }
  return undefined;
};

/** Index of the closing quote of the string that begins at `start`. */
const endOfString = (body: Buffer, start: number): number => {
  for (let end = body.indexOf(QUOTE, start + 1); end !== -1; end = body.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (body[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return body.length;
};

const checkTexts = (value: unknown, path: readonly (string | number)[]): void => {
  if (typeof value === 'string' && isUnstorableText(value))
    throw rejection(pathText(path), 'invalid_text', 'Must not contain NUL or lone surrogates.');
  if (Array.isArray(value)) value.forEach((item, index) => checkTexts(item, [...path, index]));
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (isUnstorableText(key))
        throw rejection(
          pathText([...path, key.replaceAll('\0', '')]),
          'invalid_text',
          'Field names must not contain NUL or lone surrogates.',
        );
      if (isPrototypeKey(key, member))
        throw rejection(pathText([...path, key]), 'prototype_key', 'This field name is not allowed.');
      checkTexts(member, [...path, key]);
    }
  }
};

const isPrototypeKey = (key: string, value: unknown): boolean =>
  key === '__proto__' ||
  (key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype'));

const rejection = (path: string, code: string, message: string): InvalidInput =>
  new InvalidInput('invalid_body', [{ path, code, message }]);

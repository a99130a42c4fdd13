import type { z } from 'zod';

type RawIssue = z.core.$ZodRawIssue;

/** Most values that a sentence lists. */
const MOST_VALUES = 30;

/**
 * Explains a schema error to a reader: a predicate such as `must be a string, not a number`, without the field's name
 * and value. Pass it to `safeParse` as `{ error: issueWords }`; a schema's own messages stay.
 */
export const issueWords = (issue: RawIssue): string => {
  if (issue.input === undefined && issue.code !== 'custom' && issue.code !== 'unrecognized_keys') return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return typeWords(issue);
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`;
    case 'invalid_union':
      return unionWords(issue);
    case 'invalid_format':
      return FORMATS[issue.format] ?? affixWords(issue);
    case 'too_small':
      return tooSmallWords(issue);
    case 'too_big':
      return tooBigWords(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `has ${issue.keys.length === 1 ? 'an unknown field' : 'unknown fields'}: ${issue.keys.join(', ')}`;
    case 'invalid_key':
      return 'has an invalid key';
    case 'invalid_element':
      return 'has an invalid entry';
    default:
      return 'has an invalid value';
  }
};

/** Turns a predicate into a sentence: `Must be a string.` */
export const asSentence = (words: string): string => {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
};

const PREDICATE = /^(?:must|is|are|has|have|may|comes?|goes|takes?|holds?)\b/i;

/** A field and what is said of it as one sentence: `name must not be empty.` */
export const sentenceAbout = (subject: string, words: string): string =>
  PREDICATE.test(words)
    ? asSentenceOf(subject, words.charAt(0).toLowerCase() + words.slice(1))
    : `${subject}: ${asSentence(words)}`;

const asSentenceOf = (subject: string, predicate: string): string =>
  `${subject} ${predicate}${/[.!?]$/.test(predicate) ? '' : '.'}`;

const typeWords = ({ expected, input }: Extract<RawIssue, { code: 'invalid_type' }>): string => {
  if (isNumeric(expected) && isBeyondNumbers(input)) return OUT_OF_RANGE;
  return `must be ${typeName(expected)}${Number.isNaN(input) ? '' : `, not ${kindOf(input)}`}`;
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  bigint: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  map: 'an object',
  array: 'an array',
  tuple: 'an array',
  set: 'an array',
  null: 'null',
  date: 'a time',
  nan: 'a number',
};

/** Of a number such as 1e999: what is read of it is infinite. */
const OUT_OF_RANGE = 'is a number that is too large to be read';

const isBeyondNumbers = (input: unknown): boolean => input === Infinity || input === -Infinity;

const isNumeric = (expected: string): boolean => expected === 'number' || expected === 'int';

const typeName = (expected: string): string => TYPES[expected] ?? 'another value';

const kindOf = (input: unknown): string => {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'an array';
  if (typeof input === 'boolean') return 'true or false';
  if (typeof input === 'number') return Number.isInteger(input) || isBeyondNumbers(input) ? 'a number' : 'a fraction';
  return typeof input === 'object' ? 'an object' : `a ${typeof input}`;
};

const oneOf = (values: readonly unknown[]): string => {
  const shown = values.slice(0, MOST_VALUES).map((value) => (typeof value === 'string' ? `"${value}"` : String(value)));
  const more = values.length > MOST_VALUES ? `, or one of ${values.length - MOST_VALUES} others` : '';
  return shown.length === 1 ? (shown[0] as string) : `one of ${shown.join(', ')}${more}`;
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'must be an id (a UUID)',
  guid: 'must be an id (a UUID)',
  datetime: 'must be a time in ISO 8601 with its offset, such as 2026-11-01T00:00:00Z',
  date: 'must be a date such as 2026-11-01',
  time: 'must be a time of day such as 09:30:00',
  email: 'must be an email address such as ada@example.com',
  url: 'must be a URL such as https://example.com',
  ipv4: 'must be an IPv4 address',
  ipv6: 'must be an IPv6 address',
  base64: 'must be Base64',
  base64url: 'must be URL-safe Base64',
  json_string: 'must be JSON',
  lowercase: 'must be in lower case',
  uppercase: 'must be in upper case',
};

const affixWords = ({ prefix, suffix, includes }: Extract<RawIssue, { code: 'invalid_format' }>): string => {
  if (typeof prefix === 'string') return `must begin with "${prefix}"`;
  if (typeof suffix === 'string') return `must end with "${suffix}"`;
  if (typeof includes === 'string') return `must contain "${includes}"`;
  return 'has an invalid format; see /docs';
};

const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  set: 'item',
  tuple: 'item',
  object: 'field',
  map: 'field',
  record: 'field',
  file: 'byte',
};

const tooSmallWords = ({ origin, minimum, exact, inclusive }: Extract<RawIssue, { code: 'too_small' }>): string =>
  minimum === 1 && origin !== 'number' && origin !== 'int' && exact !== true
    ? 'must not be empty'
    : bound(origin, exact === true ? 'exactly' : inclusive === false ? 'more than' : 'at least', minimum);

const tooBigWords = ({ origin, maximum, exact, inclusive }: Extract<RawIssue, { code: 'too_big' }>): string =>
  bound(origin, exact === true ? 'exactly' : inclusive === false ? 'less than' : 'at most', maximum);

const bound = (origin: string, how: string, amount: number | bigint): string => {
  const unit = UNITS[origin];
  return unit === undefined
    ? `must be ${how} ${amount}`
    : `must have ${how} ${amount} ${unit}${amount === 1 ? '' : 's'}`;
};

const memberOf = (input: unknown, name: string): unknown =>
  typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>)[name] : undefined;

/** `must be a string or a number, not an object`, where that is all that the alternatives say. */
const unionWords = ({
  errors,
  input,
  discriminator,
  options,
}: Extract<RawIssue, { code: 'invalid_union' }>): string => {
  if (typeof discriminator === 'string' && Array.isArray(options))
    return memberOf(input, discriminator) === undefined ? 'is missing' : `must be ${oneOf(options)}`;
  if (isBeyondNumbers(input) && errors.flat().some(({ message }) => message === OUT_OF_RANGE)) return OUT_OF_RANGE;
  const wanted = errors.flatMap((branch) =>
    branch
      .filter(({ path }) => path.length === 0)
      .flatMap(({ message }) => /^must be (.+?)(?:, not .*)?$/.exec(message)?.[1] ?? []),
  );
  return wanted.length === 0
    ? 'has an invalid value'
    : `must be ${[...new Set(wanted)].join(' or ')}, not ${kindOf(input)}`;
};

import { decodeText } from '../encodings';
import { type Extraction, fail, type SourceFile } from '../extraction';
import { TextBuilder } from '../text-builder';

const MAX_DEPTH = 200;
/** Of the lines of JSON Lines, the part that may be none. */
const MOST_BROKEN = 0.1;

/** What a JSON document holds: numbers as they are written, since ids have more digits than numbers keep. */
type Json = string | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * The values of a JSON document, or of one a line, each behind the path to it: `orders[3].customer.name: Müller`. Objects in a
 * list, and members of the whole, stay together. Throws `ExtractionFailure` `malformed`.
 */
export const extractJson = ({ body }: SourceFile): Extraction => {
  const builder = new TextBuilder();
  const write = (path: string, value: Json): void => builder.lines(linesOf(path, value).join('\n'));
  const section = (path: string, value: Json): void => {
    if (Array.isArray(value) && value.some((each) => typeof each === 'object'))
      for (const [index, each] of (value as readonly Json[]).entries()) write(`${path}[${index}]`, each);
    else write(path, value);
  };
  const whole = parsed(decodeText(body, 'invalid_text'));
  if (typeof whole === 'object' && whole !== null && !Array.isArray(whole))
    for (const [key, value] of Object.entries(whole)) section(key, value);
  else section('', whole);
  return builder.build();
};

const parsed = (text: string): Json => {
  if (isTooDeep(text)) fail('malformed');
  try {
    return json(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const values = lines.map((line) => jsonOrNone(line));
    const broken = values.filter((value) => value === undefined).length;
    // A log may have been cut off, or have lines that are none.
    if (lines.length >= 2 && broken <= Math.max(1, lines.length * MOST_BROKEN) && broken < lines.length / 2)
      return values.map((value, index) => value ?? (lines[index] as string).trim());
    const plain = jsonOrNone(withoutComments(text));
    return plain === undefined ? fail('malformed') : plain;
  }
};

/** Undefined where it is not JSON. */
const jsonOrNone = (text: string): Json | undefined => {
  try {
    return json(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** Without what editors allow in settings and JSON does not: comments, and commas behind the last member. */
const withoutComments = (text: string): string => {
  const parts: string[] = [];
  /** Of the last comma, while nothing but space stands behind it. */
  let comma: number | undefined;
  for (let at = 0; at < text.length;) {
    const end = tokenEnd(text, at);
    const token = text.slice(at, end);
    at = end;
    if (token.startsWith('//') || token.startsWith('/*')) continue;
    if (comma !== undefined && (token === '}' || token === ']')) parts[comma] = '';
    if (token.trim() !== '') comma = token === ',' ? parts.length : undefined;
    parts.push(token);
  }
  return parts.join('');
};

/** End of a string, a comment, a run of letters and space, or a sign. */
const tokenEnd = (text: string, start: number): number => {
  if (text.startsWith('//', start)) return endOf(text.indexOf('\n', start), text);
  if (text.startsWith('/*', start)) return endOf(text.indexOf('*/', start + 2), text, 2);
  let at = start + 1;
  if (text[start] === '"') {
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    return Math.min(at + 1, text.length);
  }
  if (SIGNS.has(text[start] as string)) return at;
  while (at < text.length && !SIGNS.has(text[at] as string)) at += 1;
  return at;
};

const SIGNS = new Set('"/,{}[]');

const endOf = (found: number, text: string, length = 0): number => (found === -1 ? text.length : found + length);

const json = (text: string): Json =>
  // The third argument of revivers is newer than the types.
  (
    JSON.parse as (
      text: string,
      reviver: (key: string, value: unknown, context?: { source?: string }) => unknown,
    ) => Json
  )(text, (_, value, context) => (typeof value === 'number' ? (context?.source ?? String(value)) : value));

/** Brackets outside of strings, counted before anything is built of them. */
const isTooDeep = (text: string): boolean => {
  let depth = 0;
  let isString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isString) {
      if (character === '\\') index += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
};

const linesOf = (path: string, value: Json): readonly string[] => {
  if (value === null || value === '') return [];
  if (typeof value !== 'object') return [path === '' ? String(value) : `${path}: ${value}`];
  if (Array.isArray(value)) {
    const all = value as readonly Json[];
    if (all.every((each) => typeof each !== 'object'))
      return all.length === 0 ? [] : [`${path === '' ? '' : `${path}: `}${all.join(', ')}`];
    return all.flatMap((each, index) => linesOf(`${path}[${index}]`, each));
  }
  return Object.entries(value).flatMap(([key, each]) => linesOf(path === '' ? key : `${path}.${key}`, each));
};

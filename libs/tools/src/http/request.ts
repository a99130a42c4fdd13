import type { InputParameter, ToolOperation } from '../openapi/operations';
import { BODY } from '../openapi/operations';
import type { Credentials } from './secret';

/** What an operation is asked. The path is sent as it is. */
export interface ToolRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** An input that its schema allows and that cannot be sent. The message is a sentence for the model. */
export class UnsendableInput extends Error {
  override readonly name = 'UnsendableInput';
}

type Values = Readonly<Record<string, unknown>>;

/** Most characters of an address behind its host, and of the value of a header. */
const LONGEST_PATH = 8_000;
const LONGEST_HEADER = 4_000;

/**
 * Writes the request of an operation. `basePath` is that of the base URL, without a slash at its end. Values of the input stay what
 * they are named for: no step of the path, no second parameter and no header comes of them. Throws `UnsendableInput`.
 */
export const requestOf = (
  operation: ToolOperation,
  basePath: string,
  input: Values,
  credentials: Credentials,
): ToolRequest => {
  const path = basePath + pathOf(operation, input);
  const query = [...operation.parameters.flatMap((parameter) => queryOf(parameter, input)), ...credentials.query];
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
  const whole = search === '' ? path : `${path}?${search}`;
  if (whole.length > LONGEST_PATH) throw new UnsendableInput('The arguments make the address too long.');
  const body = bodyOf(operation, input);
  return {
    path: whole,
    headers: {
      ...headersOf(operation.parameters, input),
      ...(body === undefined ? {} : { 'content-type': `${operation.body?.mediaType}` }),
      ...credentials.headers,
    },
    body,
  };
};

const pathOf = ({ path, parameters }: ToolOperation, input: Values): string => {
  const values = new Map(
    parameters.flatMap((parameter) =>
      parameter.in === 'path' ? [[parameter.name, simple(parameter, input[parameter.field])] as const] : [],
    ),
  );
  const written = path
    .split(/(\{[^{}]*\})/)
    .map((piece) => (piece.startsWith('{') ? encoded(values.get(piece.slice(1, -1)) ?? '') : literal(piece)))
    .join('');
  for (const [name, value] of values)
    // Some servers decode a slash before they look for steps.
    if (value === '' || value.split(/[/\\]/).some(isDots) || /\p{Cc}/u.test(value))
      throw new UnsendableInput(`${name} must not be empty, and must not hold dot steps or control characters.`);
  return written;
};

/** A piece of the path as the document has it, what is encoded there included. */
const literal = (text: string): string => encodeURI(text).replaceAll(/%25([\da-f]{2})/gi, '%$1');

const isDots = (step: string): boolean => /^(?:\.|%2e){1,2}$/i.test(step);

/** Throws for a lone surrogate, which no address can hold. */
const encoded = (text: string): string => {
  if (!text.isWellFormed()) throw new UnsendableInput('The arguments must be well-formed text.');
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
};

const queryOf = (parameter: InputParameter, input: Values): readonly (readonly [string, string])[] => {
  const { name, style, explode, field } = parameter;
  const value = input[field];
  if (parameter.in !== 'query' || value === undefined) return [];
  if (style === 'json') return [[name, JSON.stringify(value)]];
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => [name, textOf(item)]);
    const separator = style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ',';
    return [[name, value.map(textOf).join(separator)]];
  }
  if (typeof value !== 'object' || value === null) return [[name, textOf(value)]];
  const members = Object.entries(value);
  if (style === 'deepObject') return members.map(([key, member]) => [`${name}[${key}]`, textOf(member)]);
  // Each member would be a parameter of its own, whichever the document names.
  return [[name, members.flatMap(([key, member]) => [key, textOf(member)]).join(',')]];
};

const headersOf = (parameters: readonly InputParameter[], input: Values): Readonly<Record<string, string>> =>
  Object.fromEntries(
    parameters.flatMap((parameter) => {
      if (parameter.in !== 'header' || input[parameter.field] === undefined) return [];
      const value = simple(parameter, input[parameter.field]).trim();
      if (!/^[\x20-\x7e]*$/.test(value) || value.length > LONGEST_HEADER)
        throw new UnsendableInput(
          `${parameter.name} must have at most ${LONGEST_HEADER} characters, all of them printable ASCII.`,
        );
      return [[parameter.name.toLowerCase(), value]];
    }),
  );

/** The style `simple`: lists with commas, objects as pairs. */
const simple = ({ style, explode }: InputParameter, value: unknown): string => {
  if (value === undefined) return '';
  if (style === 'json') return JSON.stringify(value);
  if (Array.isArray(value)) return value.map(textOf).join(',');
  if (typeof value !== 'object' || value === null) return textOf(value);
  return Object.entries(value)
    .map(([key, member]) => `${key}${explode ? '=' : ','}${textOf(member)}`)
    .join(',');
};

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

const bodyOf = ({ body }: ToolOperation, input: Values): string | undefined => {
  const value = input[BODY];
  if (body === undefined || value === undefined) return undefined;
  switch (body.mediaType) {
    case 'application/json':
      return JSON.stringify(value);
    case 'text/plain':
      return textOf(value);
    default:
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new UnsendableInput('body must be an object.');
      return new URLSearchParams(
        Object.entries(value).flatMap(([name, member]): [string, string][] =>
          Array.isArray(member) ? member.map((item) => [name, textOf(item)]) : [[name, textOf(member)]],
        ),
      ).toString();
  }
};

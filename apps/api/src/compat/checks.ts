import { GatewayError } from '@app/http';

/** A JSON object as a client sent it: nothing about it is known. */
export type Fields = Readonly<Record<string, unknown>>;

export const missing = (param: string): GatewayError =>
  new GatewayError(400, `Missing required parameter: '${param}'.`, { param, code: 'missing_required_parameter' });

/** `expected` is a noun with its article. */
export const wrongType = (param: string, expected: string, value: unknown): GatewayError =>
  new GatewayError(400, `Invalid type for '${param}': expected ${expected}, but got ${kindOf(value)} instead.`, {
    param,
    code: 'invalid_type',
  });

export const wrongValue = (param: string, sentence: string): GatewayError =>
  new GatewayError(400, `Invalid value for '${param}': ${sentence}`, { param, code: 'invalid_value' });

export const unsupported = (param: string): GatewayError =>
  new GatewayError(400, `Unsupported parameter: '${param}' is not supported. Remove it.`, {
    param,
    code: 'unsupported_parameter',
  });

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The body of a request; 400 unless it is a JSON object. */
export const fieldsOf = (body: unknown): Fields => {
  if (body === undefined) throw new GatewayError(400, 'The body is empty. Send a JSON object.');
  if (!isFields(body))
    throw new GatewayError(400, `The body must be a JSON object, not ${kindOf(body)}.`, { code: 'invalid_type' });
  return body;
};

/** The fields but those of some names. */
export const without = (fields: Fields, names: ReadonlySet<string>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));

/** Whether a field is given: `null` says the same as leaving it out. */
export const given = (value: unknown): boolean => value !== undefined && value !== null;

export const requireString = (fields: Fields, param: string): string => {
  const value = fields[param];
  if (!given(value)) throw missing(param);
  if (typeof value !== 'string') throw wrongType(param, 'a string', value);
  return value;
};

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' || typeof value === 'undefined') return 'an object';
  return typeof value === 'number' && Number.isInteger(value) ? 'an integer' : `a ${typeof value}`;
};

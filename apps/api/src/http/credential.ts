import type { IncomingHttpHeaders } from 'node:http';
import { refuse } from '@app/kernel';

/** Longest API key that is looked at; longer ones are wrong without being hashed. */
const LONGEST_KEY = 512;
const KEY = /^[\x21-\x7e]+$/;

/**
 * The API key of a core request. The core API takes it in `x-api-key` alone: any `authorization` header is refused, so that
 * two credentials never compete. A repeated header arrives joined by a comma and is no key.
 */
export const apiKeyOf = (headers: IncomingHttpHeaders): string => {
  const key = headers['x-api-key'];
  if (typeof key !== 'string' || headers.authorization !== undefined) return refuse('unauthenticated');
  return key.length <= LONGEST_KEY && KEY.test(key) ? key : refuse('unauthenticated');
};

/** The token of an `Authorization: Bearer` header, where there is one. */
export const bearerOf = (headers: IncomingHttpHeaders): string | undefined => /^bearer ([\x21-\x7e]{1,512})$/i.exec(headers.authorization ?? '')?.[1];

/**
 * The API key of a request to the compatible API: in `x-api-key`, as a bearer token, or the same one in both, as some clients
 * send it. Two different keys are refused.
 */
export const compatibleKeyOf = (headers: IncomingHttpHeaders): string => {
  if (headers.authorization === undefined) return apiKeyOf(headers);
  const bearer = bearerOf(headers) ?? refuse('unauthenticated');
  const own = headers['x-api-key'];
  return own === undefined || own === bearer ? bearer : refuse('unauthenticated');
};

import type { IncomingHttpHeaders } from 'node:http';
import { reject } from '@app/kernel';
import type { BodyDeclaration } from './route';

/** Some clients leave the hyphen out. */
const JSON_TYPE = /^application\/json(?:\s*;\s*charset=(?:utf-?8|"utf-?8"))?\s*$/i;
const MULTIPART_TYPE = /^multipart\/form-data\s*;\s*boundary=(?:[\w'()+,./:=?-]{1,70}|"[\w'()+,./:=? -]{1,70}")\s*$/i;

/**
 * Rejects a body by its headers, before a byte is read, if the route does not accept its type or it has a content
 * encoding.
 */
export const checkBodyHeaders = (headers: IncomingHttpHeaders, body: BodyDeclaration | undefined): void => {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined) reject('unsupported_media_type', { header: 'content-encoding' });
  const type = headers['content-type'];
  if (type === undefined ? hasBody(headers) && body?.bytes === undefined : !isTaken(type, body))
    reject('unsupported_media_type', { header: 'content-type' });
};

/** True if a body is announced, which may come. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] !== undefined && headers['content-length'] !== '0');

/** Of a body that is neither JSON nor files: routes take it as it is, or reject it. */
const UNKNOWN_TYPE = 'application/octet-stream';
/** Of a form whose parts cannot be told apart. No route accepts it: what takes bytes as they are would keep the form. */
const BROKEN_FORM = 'multipart/unreadable';
const FORM = /^\s*multipart\/form-data/i;

/**
 * Replaces a content type that is neither JSON nor files. Fastify answers 415 to a malformed one before any guard runs, so it would tell callers
 * about a route before they are known, and no rate limit would count the request.
 */
export const hideUnknownType = (headers: IncomingHttpHeaders): void => {
  const type = headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type) && !MULTIPART_TYPE.test(type))
    headers['content-type'] = FORM.test(type) ? BROKEN_FORM : UNKNOWN_TYPE;
};

const isTaken = (type: string, body: BodyDeclaration | undefined): boolean =>
  JSON_TYPE.test(type) ||
  (body?.files !== undefined && MULTIPART_TYPE.test(type)) ||
  (body?.bytes !== undefined && type === UNKNOWN_TYPE);

import type { IncomingMessage } from 'node:http';
import { type Credential, keyCredential, sessionCredential } from '@app/access';
import { reject } from '@app/kernel';
import { sessionOf } from './session-cookie';

/** Reject longer API keys without hashing them. */
const LONGEST_KEY = 512;
const KEY = /^[\x21-\x7e]+$/;
const AUTHORIZATION = 'authorization';

/** Headers of a request, merged by name and raw. */
type Sent = Pick<IncomingMessage, 'headers' | 'rawHeaders'>;

/**
 * The credential of a core request: the API key in `x-api-key`, or the session cookie if no key is sent. So a page
 * can try a key while signed in. A page of another origin cannot know a key in a header; a cookie is sent by the
 * browser with every request.
 */
export const credentialOf = (sent: Sent): Credential => {
  const { headers } = sent;
  const session =
    headers['x-api-key'] === undefined && headers.authorization === undefined ? sessionOf(headers.cookie) : undefined;
  return session === undefined ? keyCredential(apiKeyOf(sent)) : sessionCredential(session);
};

/**
 * The API key of a core request. The core API takes it in `x-api-key` alone: any `authorization` header is rejected, so that
 * two credentials never compete. A repeated header arrives joined by a comma and is no key.
 */
const apiKeyOf = ({ headers }: Sent): string => {
  const key = headers['x-api-key'];
  if (headers.authorization !== undefined) return reject('unauthenticated', { reason: 'key_in_authorization' });
  if (typeof key !== 'string' || key === '') return reject('unauthenticated', { reason: 'no_key' });
  return key.length <= LONGEST_KEY && KEY.test(key) ? key : reject('unauthenticated');
};

/** The token of the `Authorization: Bearer` header, if there is exactly one. */
export const bearerOf = ({ headers, rawHeaders }: Sent): string | undefined =>
  isAuthorizedOnce(rawHeaders) ? /^bearer ([\x21-\x7e]{1,512})$/i.exec(headers.authorization ?? '')?.[1] : undefined;

/** Looks at raw headers: Node's `headers` keeps only the first `authorization`, while a proxy may have checked the last. */
const isAuthorizedOnce = (rawHeaders: readonly string[]): boolean => {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === AUTHORIZATION.length && rawHeaders[index]?.toLowerCase() === AUTHORIZATION)
      times += 1;
  return times === 1;
};

/**
 * The API key of a request to the compatible API: in `x-api-key`, as a bearer token, or the same key in both. Rejects
 * two different keys.
 */
export const compatibleKeyOf = (sent: Sent): string => {
  const { headers } = sent;
  if (headers.authorization === undefined) return apiKeyOf(sent);
  const bearer = bearerOf(sent) ?? reject('unauthenticated', { reason: 'malformed_authorization' });
  const own = headers['x-api-key'];
  return own === undefined || own === bearer ? bearer : reject('unauthenticated', { reason: 'two_keys' });
};

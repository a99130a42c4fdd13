import type { IncomingHttpHeaders } from 'node:http';
import { reject } from '@app/kernel';

/**
 * Throws `forbidden` for a request that a page of another origin sent, as the browser says in its headers. `SameSite`
 * alone does not stop pages of another port or subdomain. Programs other than browsers send neither these headers nor
 * a cookie that they were not given.
 */
export const assertSameOrigin = (headers: IncomingHttpHeaders, baseUrl: string | undefined): void => {
  const site = headers['sec-fetch-site'];
  const isOwn =
    headers.origin === undefined
      ? site === undefined || site === 'same-origin' || site === 'none'
      : isOwnOrigin(headers.origin, headers.host, baseUrl);
  if (!isOwn) reject('forbidden', { reason: 'foreign_origin' });
};

/** Whether the browser of a request speaks TLS with the edge, as far as its origin or `BASE_URL` says so. */
export const isOverTls = ({ origin }: IncomingHttpHeaders, baseUrl: string | undefined): boolean =>
  (baseUrl !== undefined && new URL(baseUrl).protocol === 'https:') || origin?.startsWith('https://') === true;

/** `BASE_URL` says what the public origin is, its scheme too. Where it says nothing, it is the host that was asked for: behind a proxy its scheme is unknown here. */
const isOwnOrigin = (origin: string, host: string | undefined, baseUrl: string | undefined): boolean => {
  const base = baseUrl === undefined ? undefined : new URL(baseUrl);
  if (origin === base?.origin) return true;
  const { host: of, protocol } = URL.canParse(origin) ? new URL(origin) : { host: undefined, protocol: '' };
  return of !== undefined && of !== base?.host && of === host?.toLowerCase() && /^https?:$/.test(protocol);
};

import { reject } from '@app/kernel';

/** The cookie of a session (wire, Who is asking). */
const NAME = 'ap_session';
/** Longer ones are rejected unhashed. */
const LONGEST = 512;

/**
 * The secret in the `cookie` header, or undefined. Rejects several: a page of a neighbouring host could have set one
 * of them to make somebody act in a foreign session.
 */
export const sessionOf = (cookie: string | undefined): string | undefined => {
  const found = (cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${NAME}=`))
    .map((pair) => pair.slice(NAME.length + 1));
  if (found.length > 1) return reject('unauthenticated', { reason: 'two_sessions' });
  const [secret] = found;
  return secret === undefined || secret.length <= LONGEST
    ? secret
    : reject('unauthenticated', { reason: 'no_session' });
};

/** The `set-cookie` header that keeps a session in a browser until a time; no script can read it, and other sites cannot have it sent. */
export const sessionCookie = (secret: string, expiresAt: Date, isSecure: boolean): string =>
  `${NAME}=${secret}; Path=/; HttpOnly; SameSite=Strict; Expires=${expiresAt.toUTCString()}${isSecure ? '; Secure' : ''}`;

/** The `set-cookie` header that removes it. */
export const noSessionCookie = (isSecure: boolean): string => sessionCookie('', new Date(0), isSecure);

import type { InstanceSecret, Uuid } from '@app/kernel';
import { idInSecret, secretText } from '../secret-text';

/** Other than that of API keys: neither passes for the other. */
const PREFIX = 'as_';

/** What the cookie of a session holds: `as_` and, in base64url, the session's id (16 bytes) and 32 random bytes. */
export const makeSessionSecret = (sessionId: Uuid): string => secretText(PREFIX, sessionId);

/** The session id that a secret names; undefined for text of another form. */
export const sessionIdIn = (secret: string): Uuid | undefined => idInSecret(PREFIX, secret);

export const hashOfSessionSecret = (instance: InstanceSecret, secret: string): string =>
  instance.hash('session', secret);

/** What a session keeps of the secret of its API key, by the hash that the key keeps of it. */
export const hashOfKey = (instance: InstanceSecret, secretHash: string): string =>
  instance.hash('sessionKey', secretHash);

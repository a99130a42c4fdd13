import { randomBytes } from 'node:crypto';
import { type InstanceSecret, isUuid, type Uuid } from '@app/kernel';
import type { HashedSecret } from './api-key/api-key.decider';

/** A new secret: a prefix and, in base64url, the id of what it opens (16 bytes) and 32 random bytes. */
const secretText = (prefix: string, id: Uuid): string =>
  prefix + Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), randomBytes(32)]).toString('base64url');

const FORM = /^[A-Za-z0-9_-]{64}$/;

/** The id that a secret names; undefined for text of another form. */
const idInSecret = (prefix: string, secret: string): Uuid | undefined => {
  const named = secret.slice(prefix.length);
  if (!secret.startsWith(prefix) || !FORM.test(named)) return undefined;
  const hex = Buffer.from(named, 'base64url').toString('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
  return isUuid(id) ? id : undefined;
};

const KEY_PREFIX = 'ap_';
/** How much of a secret is shown to tell keys apart. It is part of the key's id, which is not secret. */
const SHOWN_LENGTH = 15;

/** A new secret: `ap_` and, in base64url, the key's id (16 bytes) and 32 random bytes. */
export const makeSecret = (keyId: Uuid): string => secretText(KEY_PREFIX, keyId);

/** The key id that a secret names; undefined for text of another form. */
export const keyIdIn = (secret: string): Uuid | undefined => idInSecret(KEY_PREFIX, secret);

/** The hash that an API key stores of its secret, keyed by the instance. */
export const hashOfSecret = (instance: InstanceSecret, secret: string): string => instance.hash('apiKey', secret);

/** The parts of a secret that are stored. Nothing of a configured secret is shown. */
export const hashedSecret = (instance: InstanceSecret, secret: string): HashedSecret => ({
  prefix: keyIdIn(secret) === undefined ? 'bootstrap' : secret.slice(0, SHOWN_LENGTH),
  secretHash: hashOfSecret(instance, secret),
});

/** Differs from the prefix of API keys: neither secret passes for the other. */
const SESSION_PREFIX = 'as_';

/** A new secret for a session cookie: `as_` and, in base64url, the id of the session (16 bytes) and 32 random bytes. */
export const makeSessionSecret = (sessionId: Uuid): string => secretText(SESSION_PREFIX, sessionId);

/** The session id that a secret names; undefined for text of another form. */
export const sessionIdIn = (secret: string): Uuid | undefined => idInSecret(SESSION_PREFIX, secret);

/** The hash that a session stores of its secret, keyed by the instance. */
export const hashOfSessionSecret = (instance: InstanceSecret, secret: string): string =>
  instance.hash('session', secret);

/** The hash that a session stores of its API key, made from the hash that the key stores. */
export const hashOfKey = (instance: InstanceSecret, secretHash: string): string =>
  instance.hash('sessionKey', secretHash);

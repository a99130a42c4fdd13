import type { InstanceSecret, Uuid } from '@app/kernel';
import { idInSecret, secretText } from '../secret-text';
import type { HashedSecret } from './api-key.decider';

const PREFIX = 'ap_';
/** How much of a secret is shown to tell keys apart. It is part of the key's id, which is not secret. */
const PREFIX_LENGTH = 15;

/** A new secret: `ap_` and, in base64url, the key's id (16 bytes) and 32 random bytes. */
export const makeSecret = (keyId: Uuid): string => secretText(PREFIX, keyId);

/** The key id that a secret names; undefined for text of another form. */
export const keyIdIn = (secret: string): Uuid | undefined => idInSecret(PREFIX, secret);

export const hashOfSecret = (instance: InstanceSecret, secret: string): string => instance.hash('apiKey', secret);

/** What is stored of a secret. No part of a configured secret is shown. */
export const hashedSecret = (instance: InstanceSecret, secret: string): HashedSecret => ({
  prefix: keyIdIn(secret) === undefined ? 'bootstrap' : secret.slice(0, PREFIX_LENGTH),
  secretHash: hashOfSecret(instance, secret),
});

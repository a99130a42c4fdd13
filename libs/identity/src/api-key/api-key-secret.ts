import { randomBytes } from 'node:crypto';
import { type InstanceSecret, isUuid, type Uuid } from '@app/kernel';
import type { HashedSecret } from './api-key.decider';

const FORM = /^ap_[A-Za-z0-9_-]{64}$/;
/** How much of a secret is shown to tell keys apart. It is part of the key's id, which is not secret. */
const PREFIX_LENGTH = 15;

/** A new secret: `ap_` and, in base64url, the key's id (16 bytes) and 32 random bytes. */
export const makeSecret = (keyId: Uuid): string =>
  `ap_${Buffer.concat([Buffer.from(keyId.replaceAll('-', ''), 'hex'), randomBytes(32)]).toString('base64url')}`;

/** The key id that a secret names; undefined for text of another form. */
export const keyIdIn = (secret: string): Uuid | undefined => {
  if (!FORM.test(secret)) return undefined;
  const hex = Buffer.from(secret.slice(3), 'base64url').toString('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
  return isUuid(id) ? id : undefined;
};

export const hashOfSecret = (instance: InstanceSecret, secret: string): string => instance.hash('apiKey', secret);

/** What is stored of a secret. No part of a configured secret is shown. */
export const hashedSecret = (instance: InstanceSecret, secret: string): HashedSecret => ({
  prefix: keyIdIn(secret) === undefined ? 'bootstrap' : secret.slice(0, PREFIX_LENGTH),
  secretHash: hashOfSecret(instance, secret),
});

import { randomBytes } from 'node:crypto';
import { isUuid, type Uuid } from '@app/kernel';

/** A new secret: a prefix and, in base64url, the id of what it opens (16 bytes) and 32 random bytes. */
export const secretText = (prefix: string, id: Uuid): string =>
  prefix + Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), randomBytes(32)]).toString('base64url');

const FORM = /^[A-Za-z0-9_-]{64}$/;

/** The id that a secret names; undefined for text of another form. */
export const idInSecret = (prefix: string, secret: string): Uuid | undefined => {
  const named = secret.slice(prefix.length);
  if (!secret.startsWith(prefix) || !FORM.test(named)) return undefined;
  const hex = Buffer.from(named, 'base64url').toString('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
  return isUuid(id) ? id : undefined;
};

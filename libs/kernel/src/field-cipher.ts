import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { DataKey } from './keyring';

/** An encrypted field in stored event data. */
export type EncryptedField = {
  readonly $encrypted: string;
};

/** Whether a value is a field as `encryptField` writes it. */
export const isEncrypted = (value: unknown): value is EncryptedField =>
  typeof value === 'object' && value !== null && typeof (value as EncryptedField).$encrypted === 'string';

/** AES-256-GCM of a JSON value: base64url of nonce (12 bytes), ciphertext and tag (16 bytes). `place` is authenticated with it. */
export const encryptField = (key: DataKey, place: string, value: unknown): EncryptedField => {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
  const body = Buffer.concat([
    nonce,
    cipher.update(JSON.stringify(value), 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return { $encrypted: body.toString('base64url') };
};

/** Decrypts a value. Throws if the key or the place differs from that of the encryption. */
export const decryptField = (key: DataKey, place: string, field: EncryptedField): unknown => {
  const body = Buffer.from(field.$encrypted, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, 12)).setAAD(Buffer.from(place));
  decipher.setAuthTag(body.subarray(body.length - 16));
  const text = decipher.update(body.subarray(12, body.length - 16));
  // GCM holds nothing back; here the tag is checked.
  decipher.final();
  return JSON.parse(text.toString('utf8')) as unknown;
};

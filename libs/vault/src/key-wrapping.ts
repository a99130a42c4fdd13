import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { DataKey } from '@app/kernel';
import { WrongVaultKey } from './key-files';
import type { KeyRecord } from './vault';

/** Bytes of a wrapped key: nonce 12, key 32, tag 16. */
export const WRAPPED_BYTES = 60;

/** The AES-256 key that wraps data keys, from the text of `VAULT_KEY`. */
export const wrappingKeyOf = (secret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', 'agent-platform/vault/wrap/1', 32));

/** AES-256-GCM of a data key. The aggregate is authenticated with it, so no key can be moved to another aggregate. */
export const wrapKey = (wrappingKey: Buffer, stream: string, key: DataKey): Buffer => {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', wrappingKey, nonce).setAAD(Buffer.from(stream));
  return Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
};

/** The data key back. Throws when the wrapping key or the stream is another, or a bit has changed: never a wrong key. */
export const unwrapKey = (wrappingKey: Buffer, stream: string, wrapped: Buffer): DataKey => {
  const decipher = createDecipheriv('aes-256-gcm', wrappingKey, wrapped.subarray(0, 12)).setAAD(Buffer.from(stream));
  decipher.setAuthTag(wrapped.subarray(44));
  try {
    const plain = decipher.update(wrapped.subarray(12, 44));
    decipher.final();
    // In memory of its own: keys are remembered for long, and a slice of Node's pool would keep all 64 KiB of it.
    const key = Buffer.allocUnsafeSlow(plain.length);
    plain.copy(key);
    return key;
  } catch (error) {
    throw new Error(`the key of ${stream} in the vault is damaged or wrapped under another VAULT_KEY`, {
      cause: error,
    });
  }
};

/** The same, by the text of `VAULT_KEY`: without a vault, which would be made under it. */
export const checkRecordsUnder = (records: readonly KeyRecord[], vaultKey: string): void =>
  checkRecords(records, wrappingKeyOf(vaultKey));

/** Throws `WrongVaultKey` unless every key among the records opens. Otherwise a wrong one would surface only when it is needed. */
export const checkRecords = (records: readonly KeyRecord[], wrappingKey: Buffer): void => {
  for (const record of records) {
    if (record.kind !== 'key') continue;
    try {
      unwrapKey(wrappingKey, record.stream, Buffer.from(record.wrapped, 'base64'));
    } catch (error) {
      throw new WrongVaultKey('these keys are damaged or wrapped under another VAULT_KEY', { cause: error });
    }
  }
};

import { WrongVaultKey } from './key-files';
import { unwrapKey } from './key-wrapping';
import type { KeyRecord } from './vault';

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

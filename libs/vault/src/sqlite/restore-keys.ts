import Database from 'better-sqlite3';
import { Unavailable } from '@app/kernel/threads';
import { wrappingKeyOf } from '../key-wrapping';
import { causeAbove, destroyKey, emptyWriteAheadLog, forgetNote, NO_KEY, openVaultDatabase } from './vault-database';

export interface RestoreKeysOptions {
  /** Folder of the vault; what it holds stays, its tombstones above all. */
  readonly folder: string;
  /** A copy of a vault's file, which `checkKeysCopy` takes under the same key. */
  readonly keysFile: string;
  /** The text of `VAULT_KEY` that both are wrapped under. */
  readonly wrappingKey: string;
}

interface KeyRow {
  readonly wrapped: Buffer;
  readonly stream: string;
  readonly user_id: string | null;
  readonly space_id: string | null;
}

/**
 * Imports backed-up keys into the vault of a folder that nothing else has open. A key that either of the two knows as
 * destroyed stays destroyed. Returns how many were left out for that. Throws if `VAULT_KEY` is wrong for the vault that is there.
 */
export const restoreKeys = async ({
  folder,
  keysFile,
  wrappingKey,
}: RestoreKeysOptions): Promise<{ readonly erased: number }> => {
  const backup = new Database(keysFile, { readonly: true });
  try {
    const vault = openVaultDatabase(folder, wrappingKeyOf(wrappingKey));
    try {
      const erased = vault.transaction(() => merge(backup, vault)).immediate();
      if (!emptyWriteAheadLog(vault))
        throw new Unavailable(
          'vault',
          'the keys are restored, but a reader keeps older pages of it on disk; restore again when it has ended',
          'unknown',
        );
      return { erased };
    } finally {
      vault.close();
    }
  } finally {
    backup.close();
  }
};

const merge = (backup: Database.Database, vault: Database.Database): number => {
  forgetNote(vault);
  const insert = vault.prepare('INSERT OR IGNORE INTO keys (wrapped, thing, user_id, space_id) VALUES (?, ?, ?, ?)');
  const present = vault.prepare<[string], Buffer>('SELECT wrapped FROM keys WHERE thing = ?').pluck();
  const bury = vault.prepare('INSERT OR IGNORE INTO destroyed (thing, at, cause) VALUES (?, ?, ?)');
  let erased = 0;
  for (const { wrapped, stream, user_id, space_id } of backup
    .prepare<[], KeyRow>('SELECT wrapped, thing AS stream, user_id, space_id FROM keys ORDER BY id')
    .iterate()) {
    const gone = causeAbove(vault, stream, {
      ...(user_id === null ? {} : { userId: user_id }),
      ...(space_id === null ? {} : { spaceId: space_id }),
    });
    insert.run(gone === undefined ? wrapped : NO_KEY, stream, user_id, space_id);
    if (gone !== undefined) bury.run(stream, gone.at, gone.cause);
    const now = present.get(stream) as Buffer;
    if (!wrapped.equals(NO_KEY) && now.equals(NO_KEY)) erased += 1;
  }
  for (const { stream, at, cause } of backup
    .prepare<[], { stream: string; at: string; cause: string }>(
      'SELECT thing AS stream, at, cause FROM destroyed ORDER BY seq',
    )
    .iterate())
    destroyKey(vault, { key: stream, at, cause });
  for (const { owner, at } of backup
    .prepare<[], { owner: string; at: string }>('SELECT owner, at FROM destroyed_owners')
    .iterate())
    vault.prepare('INSERT OR IGNORE INTO destroyed_owners VALUES (?, ?)').run(owner, at);
  return erased;
};

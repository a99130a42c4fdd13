import type Database from 'better-sqlite3';
import { Unavailable } from '@app/kernel/threads';
import { wrapKey, unwrapKey, wrappingKeyOf } from '../key-wrapping';
import { emptyWriteAheadLog, NO_KEY, openVaultDatabase } from './vault-database';

const PAGE = 1_000;

export interface RotateVaultKeyOptions {
  /** Folder of the vault, which nothing else has open. */
  readonly folder: string;
  /** Texts of `VAULT_KEY`: the one that the keys are wrapped under, and the one that they are to be. */
  readonly from: string;
  readonly to: string;
}

/**
 * Wraps every data key of a vault under a new key, all or none; the data keys stay. Returns their number. Throws
 * `WrongVaultKey` if they are not wrapped under `from`, `Unavailable` while a reader keeps old pages.
 */
export const rotateVaultKey = ({ folder, from, to }: RotateVaultKeyOptions): number => {
  const [old, fresh] = [wrappingKeyOf(from), wrappingKeyOf(to)];
  const database = openVaultDatabase(folder, old);
  try {
    const rotated = database.transaction(() => rewrapAll(database, old, fresh)).immediate();
    // The write-ahead log holds pages with both.
    if (!emptyWriteAheadLog(database))
      throw new Unavailable(
        'vault',
        'its keys are wrapped under the new key, but a reader keeps older pages on disk; rotate again when the reader has ended',
        'unknown',
      );
    return rotated;
  } finally {
    database.close();
  }
};

const rewrapAll = (database: Database.Database, old: Buffer, fresh: Buffer): number => {
  const page = database.prepare<[number, Buffer, number], { id: number; stream: string; wrapped: Buffer }>(
    'SELECT id, thing AS stream, wrapped FROM keys WHERE id > ? AND wrapped <> ? ORDER BY id LIMIT ?',
  );
  const update = database.prepare('UPDATE keys SET wrapped = ? WHERE id = ?');
  let rotated = 0;
  for (let rows = page.all(0, NO_KEY, PAGE); rows.length > 0; rows = page.all(rows.at(-1)?.id ?? 0, NO_KEY, PAGE)) {
    for (const { id, stream, wrapped } of rows) update.run(wrapKey(fresh, stream, unwrapKey(old, stream, wrapped)), id);
    rotated += rows.length;
  }
  database.prepare(`UPDATE vault SET value = ? WHERE name = 'check'`).run(wrapKey(fresh, '', Buffer.alloc(32)));
  return rotated;
};

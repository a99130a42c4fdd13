import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { lockLogFolder } from '@app/event-log';
import { syncToDisk } from '@app/kernel';
import { loadOrMakeKey, rotateVaultKey, WrongVaultKey } from '@app/vault';
import { Failure } from '../exit-codes';
import { counted } from '../output';
import type { Verb } from '../session';
import { instanceKey, orFailure, storesConfig } from './config';

const NEXT = 'VAULT_KEY.next';

/**
 * Wraps the data keys under a new `VAULT_KEY`, which is stored first. Rewrites the vault's file, so no module may
 * hold it open: this runs without Nest. Repeat it after an interruption: keys that are wrapped under the new key
 * already stay.
 */
export const rotate: Verb<[]> = async ({ output }) => {
  const config = storesConfig();
  if (config.MONGODB_URL !== undefined)
    throw new Failure(
      'The vault is in MongoDB, and VAULT_KEY can be rotated in the embedded vault only. Export the keys, and import them under another VAULT_KEY.',
    );
  const folder = join(config.DATA_DIR, 'keys');
  const from = instanceKey(config, 'VAULT_KEY');
  const lock = await orFailure(Promise.resolve().then(() => lockLogFolder(join(config.DATA_DIR, 'log'))));
  try {
    const to = loadOrMakeKey({ folder, name: NEXT, inUse: false, warn: () => undefined });
    // Of an earlier rotation, and set since. It may be why the key is to change.
    if (to === from)
      throw new Failure(
        `${join(folder, NEXT)} holds the VAULT_KEY in use, not a new one, so nothing was encrypted anew. Remove the file, and repeat this.`,
      );
    const vault = join(config.DATA_DIR, 'vault');
    const rotated = await orFailure(rewrapped(vault, from, to));
    const inFile = config.VAULT_KEY === undefined;
    if (inFile) await rename(join(folder, NEXT), join(folder, 'VAULT_KEY'));
    if (inFile) await syncToDisk(folder);
    const file = join(folder, inFile ? 'VAULT_KEY' : NEXT);
    output.result({ keys: rotated, file }, () => [
      `Encrypted ${counted(rotated, 'data key')} with a new VAULT_KEY.`,
      inFile
        ? `It is in ${file}. Keep a copy apart from backups.`
        : `It is in ${file}. Set VAULT_KEY to it before the next start, and remove the file.`,
      'Earlier backups of keys need the old VAULT_KEY. Keep it with them, or back up the keys again.',
    ]);
  } finally {
    lock.release();
  }
};

const rewrapped = async (folder: string, from: string, to: string): Promise<number> => {
  try {
    return rotateVaultKey({ folder, from, to });
  } catch (error) {
    if (!(error instanceof WrongVaultKey)) throw error;
    // Interrupted after the keys were wrapped; when it is neither key, this says so.
    return rotateVaultKey({ folder, from: to, to });
  }
};

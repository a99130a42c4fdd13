import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { UnusableKeys, WrongVaultKey } from '../key-files';
import { unwrapKey, wrappingKeyOf } from '../key-wrapping';
import { NO_KEY } from './vault-database';

/** The row of `vault` in a copy of the keys that holds their digest. */
const DIGEST = 'digest';

/** What a file of keys holds. */
export interface KeysCopy {
  /** False for one that a version before digests wrote: nobody can tell whether it was changed. */
  readonly hasDigest: boolean;
  /** What was changed in it, in a sentence; undefined where it is as it was written, or has no digest. */
  readonly changed: string | undefined;
  /** Keys that do not open, whose content cannot be read; 0 where no `VAULT_KEY` was given. */
  readonly damaged: number;
}

/** Writes into a copy of a vault's file what tells later whether it was changed. */
export const noteKeysDigest = (keysFile: string): void => {
  const copy = new Database(keysFile, { fileMustExist: true });
  try {
    copy.pragma('synchronous = FULL');
    copy.prepare('INSERT OR REPLACE INTO vault VALUES (?, ?)').run(DIGEST, digestOf(copy));
  } finally {
    copy.close();
  }
};

/**
 * Looks at a copy of a vault's file that `operator backup` wrote, and writes nothing. Throws `UnusableKeys` for one that was
 * cut off or is none, and `WrongVaultKey`, unless no key is given.
 */
export const checkKeysCopy = (keysFile: string, vaultKey: string | undefined): KeysCopy => {
  if (!existsSync(keysFile)) throw new UnusableKeys(`${keysFile} does not exist`);
  const copy = new Database(keysFile, { readonly: true });
  try {
    return lookInto(copy, keysFile, vaultKey);
  } finally {
    copy.close();
  }
};

const lookInto = (copy: Database.Database, keysFile: string, vaultKey: string | undefined): KeysCopy => {
  const { check, digest } = rowsIn(copy, keysFile);
  const wrapping = vaultKey === undefined ? undefined : wrappingKeyOf(vaultKey);
  if (wrapping !== undefined) openCheck(wrapping, check, keysFile);
  const isChanged = digest !== undefined && !digest.equals(digestOf(copy));
  return {
    hasDigest: digest !== undefined,
    changed: isChanged ? `${keysFile} was changed since it was written` : undefined,
    damaged: wrapping === undefined ? 0 : damagedIn(copy, wrapping),
  };
};

const openCheck = (wrapping: Buffer, check: Buffer, keysFile: string): void => {
  try {
    unwrapKey(wrapping, '', check);
  } catch (error) {
    throw new WrongVaultKey(`VAULT_KEY is not the key that ${keysFile} is wrapped under`, { cause: error });
  }
};

/** Of a file that is whole. What is cut off or of another kind would fail in the middle, or bring nothing. */
const rowsIn = (copy: Database.Database, keysFile: string): { readonly check: Buffer; readonly digest?: Buffer } => {
  const wrong = (cause?: unknown) =>
    new UnusableKeys(
      `${keysFile} is damaged, or no file of keys that operator backup wrote. One of operator export goes with operator import.`,
      { cause },
    );
  try {
    const pages = Number(copy.pragma('page_count', { simple: true }));
    // SQLite reads a last page that is there in part, and takes zeros for the rest.
    const isWhole =
      statSync(keysFile).size >= pages * Number(copy.pragma('page_size', { simple: true })) &&
      copy.pragma('quick_check(1)', { simple: true }) === 'ok';
    const row = copy.prepare<[string], Buffer>('SELECT value FROM vault WHERE name = ?').pluck();
    const [check, digest] = [row.get('check') as Buffer | undefined, row.get(DIGEST) as Buffer | undefined];
    if (isWhole && check !== undefined) return { check, ...(digest && { digest }) };
  } catch (error) {
    throw wrong(error);
  }
  throw wrong();
};

/** SHA-256 of every row, in order. */
const digestOf = (copy: Database.Database): Buffer => {
  const digest = createHash('sha256');
  for (const rows of [
    `SELECT name, hex(value) FROM vault WHERE name <> '${DIGEST}' ORDER BY name`,
    'SELECT id, hex(wrapped), thing, user_id, space_id FROM keys ORDER BY id',
    'SELECT seq, thing, at, cause FROM destroyed ORDER BY seq',
    'SELECT owner, at FROM destroyed_owners ORDER BY owner',
  ])
    for (const row of copy.prepare(rows).raw().iterate()) digest.update(`${JSON.stringify(row)}\n`);
  return digest.digest();
};

const damagedIn = (copy: Database.Database, wrapping: Buffer): number => {
  let damaged = 0;
  const keys = copy.prepare<[Buffer], { wrapped: Buffer; stream: string }>(
    'SELECT wrapped, thing AS stream FROM keys WHERE wrapped <> ? ORDER BY id',
  );
  for (const { wrapped, stream } of keys.iterate(NO_KEY)) if (!opens(wrapping, stream, wrapped)) damaged += 1;
  return damaged;
};

const opens = (wrapping: Buffer, stream: string, wrapped: Buffer): boolean => {
  try {
    unwrapKey(wrapping, stream, wrapped);
    return true;
  } catch {
    return false;
  }
};

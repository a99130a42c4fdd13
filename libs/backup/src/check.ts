import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf, sentenceIn } from '@app/kernel';
import { checkKeysCopy } from '@app/vault';
import Database from 'better-sqlite3';
import { endOf } from './end-of-log';
import { type BackupFinding, checkListing, LOG_PATH, type OnBytes } from './listing';
import { BackupError, type Manifest, readManifest } from './manifest';

export interface CheckOptions {
  readonly folder: string;
  /** The data keys that were backed up apart; undefined: they are not looked at. */
  readonly keysFile?: string | undefined;
  /** The text of `VAULT_KEY`; undefined: whether the keys open is not tried. */
  readonly vaultKey?: string | undefined;
  readonly onBytes?: OnBytes;
}

/** What a check of a backup found. */
export interface BackupCheck {
  readonly manifest: Manifest;
  /** False for a backup of an earlier version, which lists no hashes: nobody can tell what has changed in it. */
  readonly hasHashes: boolean;
  /** At most 1,000 of them. */
  readonly findings: readonly BackupFinding[];
  readonly findingsInAll: number;
  readonly keys?: {
    /** False for a file of keys of an earlier version. */
    readonly hasDigest: boolean;
    /** Keys that do not open: content that cannot be read. */
    readonly damaged: number;
  };
}

const MOST_FINDINGS = 1_000;

/**
 * Looks at every file of a backup, and writes nothing. Throws `BackupError` where it is none, or its log cannot be used;
 * `UnusableKeys` and `WrongVaultKey` for the file of keys.
 */
export const checkBackup = async ({
  folder,
  keysFile,
  vaultKey,
  onBytes = () => undefined,
}: CheckOptions): Promise<BackupCheck> => {
  const manifest = await readManifest(folder);
  const keys = keysFile === undefined ? undefined : checkKeysCopy(keysFile, vaultKey);
  const findings: BackupFinding[] = [];
  let findingsInAll = 0;
  const found = (finding: BackupFinding): void => {
    findingsInAll += 1;
    if (findings.length < MOST_FINDINGS) findings.push(finding);
  };
  if (keys?.changed !== undefined)
    found({ kind: 'changed', path: keysFile ?? '', detail: 'it holds other keys than those that were written to it' });
  if (manifest.version === 2) await checkListing(folder, manifest.listing, found, onBytes);
  if (!findings.some(({ path }) => path === LOG_PATH)) await mustBeWhole(folder, manifest);
  return {
    manifest,
    hasHashes: manifest.version === 2,
    findings,
    findingsInAll,
    ...(keys && { keys: { hasDigest: keys.hasDigest, damaged: keys.damaged } }),
  };
};

/** Files of a backup are others than those that were backed up. Nothing was restored. */
export class BackupChanged extends Error {
  override readonly name = 'BackupChanged';

  constructor(
    folder: string,
    readonly check: BackupCheck,
  ) {
    const [first] = check.findings;
    super(
      `${folder} was changed since it was made, and nothing was restored: ${first?.path}: ${first?.detail}${check.findingsInAll > 1 ? `, and ${check.findingsInAll - 1} more` : ''}. Restore another backup, or what is left of this one with --force`,
    );
  }
}

/** A file that was cut off may still be a database: an empty one is. */
export const mustBeWhole = async (folder: string, { head, lastSeal }: Manifest): Promise<void> => {
  const log = join(folder, 'log');
  const unusable = (why: string, cause?: unknown) => new BackupError(`${folder} cannot be restored: ${why}`, { cause });
  if (!existsSync(join(folder, LOG_PATH))) throw unusable(`${LOG_PATH} is missing`);
  const end = await endOf(log).catch((error: unknown) => {
    throw unusable(`its log cannot be read: ${sentenceIn(error) ?? reasonOf(error)}`, error);
  });
  if (isCutOff(join(folder, LOG_PATH))) throw unusable('its log cannot be read: it was cut off');
  if (end.head !== head || end.lastSeal !== lastSeal)
    throw unusable(
      `its log ends elsewhere than ${join(folder, 'manifest.json')} says, so it is of another backup or was changed`,
    );
};

/** SQLite reads a last page that is there in part, and takes zeros for the rest. */
const isCutOff = (file: string): boolean => {
  const database = new Database(file, { readonly: true });
  try {
    const [pages, bytes] = ['page_count', 'page_size'].map((name) => Number(database.pragma(name, { simple: true })));
    return statSync(file).size < (pages ?? 0) * (bytes ?? 0);
  } finally {
    database.close();
  }
};

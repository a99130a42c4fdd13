import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncToDisk } from '@app/kernel';
import { z } from 'zod';

const listing = z.strictObject({
  files: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
  /** SHA-256 of `files.jsonl`, which has path, size and SHA-256 of every file: hex. */
  sha256: z.string(),
});
export type Listing = z.output<typeof listing>;

const commonPart = z.strictObject({
  format: z.literal('agent-platform/backup'),
  at: z.iso.datetime(),
  /** Position of the last event; null for an empty log. */
  head: z.string().nullable(),
  /** The last seal as `<ordinal>:<hash>`, for `verify --since`; null without seals. */
  lastSeal: z.string().nullable(),
  blobs: z.number().int().nonnegative(),
});

/** What a backup says of itself; written last, so a backup without it is unfinished. Version 1 has no listing: nobody can tell what has changed in it. */
const manifestSchema = z.discriminatedUnion('version', [
  commonPart.extend({ version: z.literal(1) }),
  commonPart.extend({ version: z.literal(2), listing }),
]);
export type Manifest = z.output<typeof manifestSchema>;

const FILE = 'manifest.json';
export const UNFINISHED_MANIFEST = `${FILE}.unfinished`;

export const writeManifest = async (folder: string, manifest: Manifest): Promise<void> => {
  const unfinished = join(folder, UNFINISHED_MANIFEST);
  await writeFile(unfinished, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(unfinished, join(folder, FILE));
  await syncToDisk(folder);
};

/** Throws a sentence when the folder holds no whole backup. */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const text = await readFile(join(folder, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new BackupError(`${folder} is not a complete backup: ${FILE} is missing`) : error;
  });
  const { data } = manifestSchema.safeParse(parsed(text));
  if (data === undefined)
    throw new BackupError(`${folder} cannot be restored: its ${FILE} is damaged, or of another version`);
  return data;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What stands in the way of a backup or a restore, in a sentence for a person. Nothing was changed. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

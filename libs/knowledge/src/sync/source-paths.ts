import { textSchema } from '@app/kernel';
import { z } from 'zod';

/** Most files of a source. */
export const MOST_SYNCED_FILES = 10_000;
/** Most paths in one confirmation of deletions: a source may have more documents than files. */
const MOST_CONFIRMED = 10 * MOST_SYNCED_FILES;
/** Longest path, characters. */
const LONGEST_PATH = 500;

/** Control, bidirectional-override and tag characters. */
const DECEIVING = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u{e0000}-\u{e007f}]/u;

/** The name of a source of an Agent's documents, such as a folder. */
export const sourceIdSchema = z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 of a-z, 0-9 and -');

/** A path within a source: parts that are separated by `/`, none of them `.`, `..` or empty. */
export const sourcePathSchema: z.ZodType<string, string> = textSchema(LONGEST_PATH)
  .refine((path) => !path.includes('\\'), { message: 'must use / between folders, not a backslash' })
  .refine((path) => !path.startsWith('/') && !/^[a-z]:/i.test(path), { message: 'must not be absolute' })
  .refine((path) => path.split('/').every((part) => !['', '.', '..'].includes(part)), {
    message: 'must not have empty parts, . or ..',
  })
  .refine((path) => !DECEIVING.test(path), {
    message: 'must not contain control, bidirectional or tag characters',
  })
  .refine((path) => path === path.trim(), { message: 'must not start or end with white space' });

/**
 * The form in which paths are compared: file systems return the same name composed or decomposed. Upper and lower case
 * differ, as in some file systems.
 */
export const samePath = (path: string): string => path.normalize('NFC');

/** SHA-256 in hex. */
const contentHash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal');

/** The files of a source as it is now, each path once. */
export const sourceFilesSchema = z
  .array(
    z.strictObject({
      path: sourcePathSchema.describe('The path of the file in its source, with `/` between folders.'),
      contentHash: contentHash.describe('The SHA-256 of the file, in lowercase hexadecimal.'),
    }),
  )
  .max(MOST_SYNCED_FILES)
  .superRefine((files, context) => {
    const seen = new Set<string>();
    for (const [index, { path }] of files.entries()) {
      const same = samePath(path);
      if (seen.has(same))
        context.addIssue({ code: 'custom', path: [index, 'path'], message: 'Is listed twice. List each file once.' });
      seen.add(same);
    }
  });
/** The paths whose deletion is confirmed. Paths without a document are ignored, so they need not be well formed. */
export const confirmedPathsSchema = z.array(z.string().max(LONGEST_PATH)).max(MOST_CONFIRMED);

export type SourceFile = z.output<typeof sourceFilesSchema>[number];

import { samePath, sourcePathSchema } from '@app/knowledge';
import type { FolderFile } from './folder-files';

/** A file that was not sent, and why. */
export interface NotSent {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** Files under names that the platform takes, each once: file systems keep a composed and a decomposed name apart. */
export const namedWell = (
  found: readonly FolderFile[],
): { readonly files: readonly FolderFile[]; readonly failed: NotSent[] } => {
  const files: FolderFile[] = [];
  const failed: NotSent[] = [];
  const seen = new Set<string>();
  for (const file of found) {
    const { path } = file;
    const named = sourcePathSchema.safeParse(path);
    const isTwin = seen.has(samePath(path));
    seen.add(samePath(path));
    if (!named.success)
      failed.push({ path, code: 'invalid_request', message: `Its name ${named.error.issues[0]?.message ?? ''}.` });
    else if (isTwin)
      failed.push({
        path,
        code: 'invalid_request',
        message: 'Another file has the same name in another Unicode form.',
      });
    else files.push(file);
  }
  return { files, failed };
};

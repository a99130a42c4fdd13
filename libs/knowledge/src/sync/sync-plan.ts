import { samePath, type SourceFile } from './source-paths';

/** A document that came from a source. */
export interface SyncedDocument {
  readonly documentId: string;
  readonly path: string;
  readonly contentHash: string;
}

/** What is to be done so that the documents of a source are its files. */
export interface SyncPlan {
  /** New files, and files whose content is another; paths as they were listed. */
  readonly upload: readonly string[];
  readonly replace: readonly string[];
  /** Documents whose files are gone, to be deleted. */
  readonly vanished: readonly SyncedDocument[];
  /** The same where so many are gone that somebody has to confirm it: then none is deleted. */
  readonly withheld: readonly SyncedDocument[];
}

/** So many deletions, of so large a part of the documents, are withheld until they are confirmed (wire, Document). */
const MANY = 10;
const LARGE_PART = 0.1;

/** Compares the files of a source with the documents that came from it. */
export const syncPlan = (
  files: readonly SourceFile[],
  documents: readonly SyncedDocument[],
  confirmDeletions: boolean,
): SyncPlan => {
  const byPath = new Map(documents.map((document) => [samePath(document.path), document]));
  const upload: string[] = [];
  const replace: string[] = [];
  for (const { path, contentHash } of files) {
    const known = byPath.get(samePath(path));
    byPath.delete(samePath(path));
    if (known === undefined) upload.push(path);
    else if (known.contentHash !== contentHash) replace.push(path);
  }
  const gone = [...byPath.values()];
  const isMany = gone.length > MANY && gone.length > LARGE_PART * documents.length;
  return isMany && !confirmDeletions
    ? { upload, replace, vanished: [], withheld: gone }
    : { upload, replace, vanished: gone, withheld: [] };
};

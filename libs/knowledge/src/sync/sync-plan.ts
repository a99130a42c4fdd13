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
  /** The same if a confirmation is needed: too many files are gone, or others than the confirmed ones. */
  readonly withheld: readonly SyncedDocument[];
}

/** Which deletions are confirmed: those of these paths and no others; or all, or none, however many they are. */
export type ConfirmedDeletions = boolean | readonly string[];

/** This many deletions, of this share of the documents, are withheld until they are confirmed (wire, Document). */
const MANY = 10;
const LARGE_PART = 0.1;

/** Compares the files of a source with the documents that came from it. */
export const syncPlan = (
  files: readonly SourceFile[],
  documents: readonly SyncedDocument[],
  confirmed: ConfirmedDeletions,
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
  if (typeof confirmed !== 'boolean') {
    const seen = new Set(confirmed.map(samePath));
    const { vanished = [], withheld = [] } = Object.groupBy(gone, ({ path }) =>
      seen.has(samePath(path)) ? 'vanished' : 'withheld',
    );
    return { upload, replace, vanished, withheld };
  }
  const isMany = gone.length > MANY && gone.length > LARGE_PART * documents.length;
  return isMany && !confirmed
    ? { upload, replace, vanished: [], withheld: gone }
    : { upload, replace, vanished: gone, withheld: [] };
};

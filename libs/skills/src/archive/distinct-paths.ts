import { comparedPath } from './paths';

/** Finds paths that are one on some systems: those of files, and those of the folders they are in. */
export class DistinctPaths {
  /** Numbers of folders, by their paths as they are written. */
  private readonly folders = new Map<string, number>([['', 0]]);
  /** Names of files and folders as they are compared, behind the number of the folder they are in. */
  private readonly names = new Set<string>();

  /** How many folders there are, with those that have no entry of their own. */
  get folderCount(): number {
    return this.folders.size - 1;
  }

  /** Adds a path; one of a folder ends with `/`. False where a file or folder before it has the same name, or one that differs in case or accents alone. */
  add(path: string): boolean {
    const end = path.lastIndexOf('/');
    const folder = this.folderAt(path.slice(0, Math.max(end, 0)));
    if (folder === undefined) return false;
    return path.endsWith('/') || this.addName(folder, path.slice(end + 1));
  }

  /** The number of a folder, which it and those above it are given. Each is compared by its own name alone: by whole paths, one of 500 folders took 500 times its length. */
  private folderAt(path: string): number | undefined {
    const missing: string[] = [];
    let known = path;
    while (!this.folders.has(known)) {
      missing.push(known);
      known = known.slice(0, Math.max(known.lastIndexOf('/'), 0));
    }
    let folder = this.folders.get(known) ?? 0;
    for (const each of missing.toReversed()) {
      if (!this.addName(folder, each.slice(each.lastIndexOf('/') + 1))) return undefined;
      folder = this.folders.size;
      this.folders.set(each, folder);
    }
    return folder;
  }

  private addName(folder: number, name: string): boolean {
    const compared = `${folder}/${comparedPath(name)}`;
    if (this.names.has(compared)) return false;
    this.names.add(compared);
    return true;
  }
}

/** Whether paths can stand beside each other in one archive. */
export const areDistinct = (paths: Iterable<string>): boolean => {
  const distinct = new DistinctPaths();
  return [...paths].every((path) => distinct.add(path));
};

import { comparedPath } from './paths';

/** Finds paths that are one on some systems: those of files, and those of the folders they are in. */
export class DistinctPaths {
  private readonly files = new Set<string>();
  /** As they are written, by how they are compared. */
  private readonly folders = new Map<string, string>();

  /** Adds a path; one of a folder ends with `/`. False where a file or folder before it has the same name, or one that differs in case or accents alone. */
  add(path: string): boolean {
    const parts = path.split('/');
    for (let length = 1; length < parts.length; length += 1) {
      const folder = parts.slice(0, length).join('/');
      const compared = comparedPath(folder);
      if ((this.folders.get(compared) ?? folder) !== folder || this.files.has(compared)) return false;
      this.folders.set(compared, folder);
    }
    if (path.endsWith('/')) return true;
    const compared = comparedPath(path);
    if (this.files.has(compared) || this.folders.has(compared)) return false;
    this.files.add(compared);
    return true;
  }
}

/** Whether paths can stand beside each other in one archive. */
export const areDistinct = (paths: Iterable<string>): boolean => {
  const distinct = new DistinctPaths();
  return [...paths].every((path) => distinct.add(path));
};

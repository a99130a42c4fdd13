import { closeSync, fsync, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const syncOpened = promisify(fsync);

/** One call of Node's pool of threads: in a folder that was just changed, nothing else waits for the disk. */
const syncFolder = async (folder: string): Promise<void> => {
  const opened = openSync(folder, 'r');
  try {
    await syncOpened(opened);
  } finally {
    closeSync(opened);
  }
};

/**
 * Folders whose names, and the names in them, outlive a power cut. Who asks while a sync is under way has the next one, together
 * with all who ask until it begins: many files at once take few syncs.
 */
export class DurableFolders {
  /** Those that are known to stand on the disk. */
  private readonly made = new Map<string, Promise<void>>();
  private readonly syncs = new Map<string, { readonly running: Promise<void>; next?: Promise<void> }>();

  constructor(private readonly toDisk: (folder: string) => Promise<void> = syncFolder) {}

  /** Makes a folder, unless it is there, and has its name in the folder above on the disk. */
  make(folder: string): Promise<void> {
    const made = this.made.get(folder) ?? this.madeNow(folder);
    this.made.set(folder, made);
    return made;
  }

  /** Makes a folder that somebody took away. */
  makeAgain(folder: string): Promise<void> {
    this.made.delete(folder);
    return this.make(folder);
  }

  /** Returns once the names that stand in the folder now are on the disk. */
  sync(folder: string): Promise<void> {
    const under = this.syncs.get(folder);
    if (under === undefined) return this.begin(folder);
    return (under.next ??= under.running.then(
      () => this.begin(folder),
      () => this.begin(folder),
    ));
  }

  private async madeNow(folder: string): Promise<void> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await this.sync(dirname(folder));
    } catch (error) {
      this.made.delete(folder);
      throw error;
    }
  }

  private begin(folder: string): Promise<void> {
    const running = this.toDisk(folder);
    const under: { readonly running: Promise<void>; next?: Promise<void> } = { running };
    this.syncs.set(folder, under);
    const end = (): void => {
      if (under.next === undefined) this.syncs.delete(folder);
    };
    running.then(end, end);
    return running;
  }
}

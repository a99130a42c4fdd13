import { type Blobs, discardBodies } from '@app/blobs';
import { isErased, type KeyOwner, Semaphore } from '@app/kernel';
import type { StoredFile } from './skill.events';
import type { VersionContent } from './version';

/** Files that are written at once. */
const AT_ONCE = 8;

/** Stores bytes, which go again if the others cannot be stored. Answers the name of the body. */
export type Put = (stream: string, read: () => Buffer | Promise<Buffer>, owner: KeyOwner) => Promise<string>;

/** How the files of one save are stored. */
export interface StoringParts<File> {
  readonly blobs: Pick<Blobs, 'group' | 'remove'>;
  /** What has files with the same bytes, which are not stored again. */
  readonly before: VersionContent | undefined;
  readonly store: (file: File, put: Put) => Promise<StoredFile>;
  /** Called once, when no more files come. */
  readonly end?: () => void;
  /** Called when nothing of what was stored stays. */
  readonly removed?: () => Promise<void>;
}

/** The files of one save, each stored as soon as it is there. Whoever began it ends it, and does what is before the end by `orDiscard`. */
export class StoringFiles<File extends Pick<StoredFile, 'path' | 'mediaType' | 'sha256'>> {
  private readonly places = new Semaphore(AT_ONCE);
  private readonly group;
  private readonly names: string[] = [];
  private readonly storing: Promise<PromiseSettledResult<StoredFile>>[] = [];

  constructor(private readonly parts: StoringParts<File>) {
    this.group = parts.blobs.group();
  }

  /** Begins to store a file. What is wrong is said at the end. */
  add(file: File): void {
    this.storing.push(settled(this.stored(file)));
  }

  /** All files, in the order in which they were added. If one cannot be stored, none stays. */
  async end(): Promise<readonly StoredFile[]> {
    try {
      const files = (await this.settledAll()).map(valueOf);
      if (this.names.length > 0) await this.group.durable();
      return files;
    } catch (error) {
      await this.removeStored();
      throw error;
    }
  }

  /** Does what must be done before the end; where it fails, nothing that was stored stays. */
  async orDiscard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.settledAll();
      await this.removeStored();
      throw error;
    }
  }

  /** What cannot be removed now is swept later. */
  private async removeStored(): Promise<void> {
    await discardBodies(this.parts.blobs, this.names);
    await this.parts.removed?.();
  }

  private async settledAll(): Promise<readonly PromiseSettledResult<StoredFile>[]> {
    try {
      return await Promise.all(this.storing);
    } finally {
      this.parts.end?.();
    }
  }

  private async stored(file: File): Promise<StoredFile> {
    const { before, store } = this.parts;
    const same = isErased(file.path) ? undefined : before?.files.get(file.path);
    if (same !== undefined && same.sha256 === file.sha256 && same.mediaType === file.mediaType) return same;
    return store(file, (stream, read, owner) =>
      this.places.run(async () => {
        const { name } = await this.group.put(stream, await read(), owner);
        this.names.push(name);
        return name;
      }),
    );
  }
}

const settled = async <T>(work: Promise<T>): Promise<PromiseSettledResult<T>> => {
  const [result] = await Promise.allSettled([work]);
  return result;
};

const valueOf = <T>(result: PromiseSettledResult<T>): T => {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
};

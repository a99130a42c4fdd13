import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyOwner, Keyring } from '@app/kernel';
import {
  type BlobGroup,
  type BlobName,
  type Blobs,
  byPlace,
  isBlobName,
  newBlobName,
  type OpenBody,
  PLACE_DIGITS,
  type PutArguments,
  type PutBody,
} from '../blobs';
import type { StoredBytes } from '../blob-cipher';
import { openBody, storeBody, wholeBody } from '../encrypted-body';
import { DurableFolders } from './durable-folders';
import { absent, throwUnavailable } from './file-errors';
import { findFile, readPart } from './read-file';
import { writeFile } from './write-file';

export interface FileBlobsOptions {
  /** Folder of the bodies, `DATA_DIR/blobs`. */
  readonly folder: string;
  /** Whose keys encrypt the bodies. */
  readonly vault: Keyring;
  /** For those who only read: makes nothing in the folder, and removes nothing. */
  readonly readOnly?: boolean;
}

const UNFINISHED = 'unfinished';
/** Of the folders of bodies, which come with their first one. */
const PLACE = new RegExp(`^[0-9a-f]{${PLACE_DIGITS}}$`);
/** Bytes read of a file at once. */
const STRIDE = 256 * 1024;
/** Bodies of one folder that are looked for in a list of it: one read instead of one for each. */
const WORTH_A_LIST = 8;
/** An upload that was interrupted by a crash is swept when it is this old; younger ones may be under way in another thread. */
const UNFINISHED_KEPT_MS = 24 * 60 * 60 * 1000;

/** Opens or makes the folder of bodies: one file each, in 256 sub-folders by the first two digits of their names. */
export const openFileBlobs = async (options: FileBlobsOptions): Promise<Blobs> => {
  if (options.readOnly !== true) {
    await mkdir(join(options.folder, UNFINISHED), { recursive: true, mode: 0o700 });
    await sweepUnfinished(join(options.folder, UNFINISHED));
  }
  return new FileBlobs(options.folder, options.vault, options.readOnly === true);
};

class FileBlobs implements Blobs {
  private readonly folders = new DurableFolders();

  constructor(
    private readonly folder: string,
    private readonly vault: Keyring,
    private readonly isReadOnly: boolean,
  ) {}

  put(stream: string, body: PutArguments[1], owner: KeyOwner): Promise<PutBody> {
    return storeBody(this.vault, stream, body, owner, (name, pieces) => this.writeDurably(name, pieces));
  }

  /** In one folder, whose names are brought to the disk once, at the end. */
  group(): BlobGroup {
    const beside = newBlobName();
    const put: BlobGroup['put'] = (stream, body, owner) =>
      storeBody(this.vault, stream, body, owner, (name, pieces) => this.write(name, pieces), beside);
    return { put, durable: () => this.sync(beside) };
  }

  open(stream: string, name: BlobName): Promise<OpenBody | undefined> {
    return openBody(this.vault, stream, name, (stored) => this.find(stored));
  }

  async get(stream: string, name: BlobName): Promise<Buffer | undefined> {
    return wholeBody(await this.open(stream, name));
  }

  async remove(names: readonly BlobName[]): Promise<void> {
    for (const name of names) if (isBlobName(name)) await unlink(this.fileOf(name)).catch(this.missing);
  }

  async list(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    const found: BlobName[] = [];
    const first = after?.slice(0, PLACE_DIGITS) ?? '';
    const folders = (await readdir(this.folder).catch(this.missing)) ?? [];
    for (const place of folders.filter((each) => PLACE.test(each) && each >= first).toSorted()) {
      if (found.length >= limit) break;
      const inside = (await readdir(join(this.folder, place)).catch(absent)) ?? [];
      for (const name of inside.filter((each) => isBlobName(each) && (after === null || each > after)).toSorted())
        found.push(name);
    }
    return found.slice(0, limit);
  }

  async haveAll(names: readonly BlobName[]): Promise<boolean> {
    for (const [place, inPlace] of byPlace(names)) {
      if (!inPlace.every(isBlobName)) return false;
      if (inPlace.length < WORTH_A_LIST) {
        const stored = await Promise.all(inPlace.map((name) => this.storedAt(name)));
        if (stored.includes(undefined)) return false;
        continue;
      }
      const stored = new Set(await readdir(join(this.folder, place)).catch(this.missing));
      if (!inPlace.every((name) => stored.has(name))) return false;
    }
    return true;
  }

  async storedAt(name: BlobName): Promise<Date | undefined> {
    return isBlobName(name) ? (await stat(this.fileOf(name)).catch(this.missing))?.mtime : undefined;
  }

  async readStored(name: BlobName): Promise<Buffer | undefined> {
    return isBlobName(name) ? readFile(this.fileOf(name)).catch(this.missing) : undefined;
  }

  async writeStored(name: BlobName, stored: Buffer): Promise<void> {
    if (!isBlobName(name)) throw new Error(`${name} is not a blob name`);
    await this.write(name, [stored]);
  }

  async health(): Promise<{ ok: boolean; reason?: string }> {
    try {
      await access(join(this.folder, UNFINISHED), constants.W_OK);
      return { ok: true };
    } catch (error) {
      return { ok: false, reason: `the folder of blobs cannot be written: ${(error as NodeJS.ErrnoException).code}` };
    }
  }

  /** A large one is opened anew for each part: slow readers hold no files open, and what is removed ends. */
  private async find(name: BlobName): Promise<StoredBytes | undefined> {
    const found = isBlobName(name) ? await findFile(this.fileOf(name)) : undefined;
    if (found === undefined) return this.assertThere();
    const { size, content } = found;
    const read = async (start: number, end: number): Promise<Buffer> =>
      end <= content.length ? content.subarray(start, end) : readPart(this.fileOf(name), start, end);
    return { size, stride: STRIDE, read };
  }

  private async writeDurably(name: BlobName, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    await this.write(name, pieces);
    await this.sync(name);
  }

  /** Its bytes are durable then, but not its name. */
  private async write(name: BlobName, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    const unfinished = join(this.folder, UNFINISHED, `${name}-${randomUUID()}`);
    try {
      await writeFile(unfinished, pieces);
      await this.moveIntoPlace(unfinished, name);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(throwUnavailable);
      throwUnavailable(error);
    }
  }

  private async moveIntoPlace(unfinished: string, name: BlobName): Promise<void> {
    const folder = this.folderOf(name);
    const move = () => rename(unfinished, this.fileOf(name));
    await this.folders.make(folder);
    await move().catch(async (error: NodeJS.ErrnoException) => {
      absent(error);
      await this.folders.makeAgain(folder);
      await move();
    });
  }

  /** Brings the names that stand in the place of this one to the disk. */
  private async sync(name: BlobName): Promise<void> {
    await this.folders.sync(this.folderOf(name)).catch(throwUnavailable);
  }

  /** Undefined for a body that is not there, while the folder of all is. */
  private readonly missing = (error: NodeJS.ErrnoException): Promise<undefined> | undefined => {
    absent(error);
    return this.assertThere();
  };

  /** Throws `Unavailable` if the folder was taken away, as with its disk: what is not found then may still be there. */
  private async assertThere(): Promise<undefined> {
    if (!this.isReadOnly) await access(join(this.folder, UNFINISHED)).catch(throwUnavailable);
    return undefined;
  }

  private folderOf(name: BlobName): string {
    return join(this.folder, name.slice(0, PLACE_DIGITS));
  }

  private fileOf(name: BlobName): string {
    return join(this.folderOf(name), name);
  }
}

const sweepUnfinished = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const written = await stat(join(folder, name)).catch(absent);
    if (written !== undefined && Date.now() - written.mtimeMs > UNFINISHED_KEPT_MS)
      await rm(join(folder, name), { force: true });
  }
};

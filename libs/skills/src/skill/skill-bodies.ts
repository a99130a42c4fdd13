import { BLOBS, type Blobs, type OpenBody, openWhileThere } from '@app/blobs';
import {
  Decisions,
  idOf,
  type KeyOwner,
  isErased,
  isUnavailable,
  reject,
  Semaphore,
  streamOf,
  Unavailable,
} from '@app/kernel';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { SkillFile } from '../archive';
import { FileFindings } from './file-findings';
import { headFindings } from './head-findings';
import { type Skill, skillDecider, versionsOf } from './skill.decider';
import type { StoredFile } from './skill.events';
import { bodiesOf, type VersionContent } from './version';

/** Whose key the bodies of a Skill have. */
export const skillStream = (skillId: string): string => streamOf(skillDecider.category, skillId);

/** Files that are written at once, and that are read for findings beside them. */
const AT_ONCE = 8;

/** The bodies of the files of Skills, each encrypted under its Skill's key. Stored first, then named by an event. */
@Injectable()
export class SkillBodies implements OnModuleDestroy {
  private readonly findings = new FileFindings();

  constructor(
    @Inject(BLOBS) private readonly blobs: Blobs,
    private readonly decisions: Decisions,
  ) {}

  onModuleDestroy(): void {
    this.findings.end();
  }

  /** Stores files, but for those that `before` has with the same bytes. If one cannot be stored, none stays. */
  store(
    { skillId, spaceId }: { readonly skillId: string; readonly spaceId: string },
    files: readonly SkillFile[],
    before?: VersionContent,
  ): Promise<readonly StoredFile[]> {
    return this.storeAt(skillStream(skillId), { spaceId }, files, before);
  }

  /** As `store`, under the key of a stream. */
  async storeAt(
    stream: string,
    of: { readonly spaceId?: string },
    files: readonly SkillFile[],
    before: VersionContent | undefined,
  ): Promise<readonly StoredFile[]> {
    const finder = this.findings.finder(files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
    const reading = new Semaphore(AT_ONCE);
    const store = async (
      { path, mediaType, sizeBytes, sha256, bytes: given }: SkillFile,
      put: Put,
    ): Promise<StoredFile> => {
      const bytes = Buffer.from(given.buffer, given.byteOffset, given.length);
      // Both come to their end: a file that is stored later than another failed would stay.
      const [file, findings] = await Promise.allSettled([
        put(stream, () => bytes, of),
        reading.run(() => finder.find(bytes)),
      ]);
      if (file.status === 'rejected') throw file.reason;
      if (findings.status === 'rejected') throw findings.reason;
      return {
        path,
        mediaType,
        sizeBytes,
        sha256,
        file: file.value,
        findings: [...headFindings(path), ...findings.value],
      };
    };
    try {
      return await this.storeAll(files, before, store);
    } finally {
      finder.end();
    }
  }

  /** Copies files of one stream to another, under a key that is nobody's, but for those that `before` has. If one cannot be copied, none stays. */
  async copy(
    from: string,
    to: string,
    files: readonly StoredFile[],
    before?: VersionContent,
  ): Promise<readonly StoredFile[]> {
    return this.storeAll(files, before, async (file, put) => {
      const read = async () => (await this.read(from, file)) ?? reject('not_found', { kind: 'skill', id: idOf(from) });
      return { ...file, file: await put(to, read, {}) };
    });
  }

  /** Removes bodies that no event came to name. */
  remove(files: readonly StoredFile[]): Promise<void> {
    return this.blobs.remove(files.map(({ file }) => file));
  }

  private async storeAll<File extends Pick<StoredFile, 'path' | 'mediaType' | 'sha256'>>(
    files: readonly File[],
    before: VersionContent | undefined,
    store: (file: File, put: Put) => Promise<StoredFile>,
  ): Promise<readonly StoredFile[]> {
    const places = new Semaphore(AT_ONCE);
    const stored: string[] = [];
    const group = this.blobs.group();
    const put: Put = (stream, read, owner) =>
      places.run(async () => {
        const { name } = await group.put(stream, await read(), owner);
        stored.push(name);
        return name;
      });
    const storing = files.map(async (file): Promise<StoredFile> => {
      const same = isErased(file.path) ? undefined : before?.files.get(file.path);
      if (same !== undefined && same.sha256 === file.sha256 && same.mediaType === file.mediaType) return same;
      return store(file, put);
    });
    try {
      const files = (await Promise.allSettled(storing)).map(valueOf);
      if (stored.length > 0) await group.durable();
      return files;
    } catch (error) {
      await this.blobs.remove(stored);
      throw error;
    }
  }

  /** Acts with stored files, and removes those that the Skill does not name then. What cannot be removed now is swept later. */
  async naming<T>(skillId: string, files: readonly StoredFile[], act: () => Promise<T>): Promise<T> {
    const removing = () =>
      this.removeUnnamed(skillId, files).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
      });
    try {
      const result = await act();
      await removing();
      return result;
    } catch (error) {
      // An event may name them yet.
      if (!(isUnavailable(error) && error.outcome === 'unknown')) await removing();
      throw error;
    }
  }

  /** Throws `Unavailable` unless the files of a version can be read, and so be searched: each is stored, and one is read, since they have one key. */
  async assertReadable(stream: string, files: readonly StoredFile[]): Promise<void> {
    const [first] = files.toSorted((a, b) => a.sizeBytes - b.sizeBytes);
    if (first === undefined) return;
    const areStored = this.blobs.haveAll(files.map(({ file }) => file));
    const [isStored, read] = await Promise.all([areStored, this.read(stream, first)]);
    if (!isStored || read === undefined) throw new Unavailable('blobs', 'the files of the Skill cannot be read');
  }

  /** The bytes of a file. Undefined if it, or its key, is gone. */
  read(stream: string, { file }: Pick<StoredFile, 'file'>): Promise<Buffer | undefined> {
    return this.blobs.get(stream, file);
  }

  /** As `read`, in pieces, for answers that may be read slowly. Rejects `not_found` where it is gone, also while it is read. */
  open(stream: string, { file }: StoredFile): Promise<OpenBody> {
    return openWhileThere(this.blobs, stream, file, () => reject('not_found', { kind: 'skill', id: idOf(stream) }));
  }

  private async removeUnnamed(skillId: string, files: readonly StoredFile[]): Promise<void> {
    if (files.length === 0) return;
    const named = namedBodies((await this.decisions.load(skillDecider, skillId)).state);
    const unnamed = files.map(({ file }) => file).filter((file) => !named.has(file));
    if (unnamed.length > 0) await this.blobs.remove(unnamed);
  }
}

/** Stores bytes, which go again if the others cannot be stored. Answers the name of the body. */
type Put = (stream: string, read: () => Buffer | Promise<Buffer>, owner: KeyOwner) => Promise<string>;

const valueOf = <T>(result: PromiseSettledResult<T>): T => {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
};

const namedBodies = (skill: Skill): ReadonlySet<string> =>
  skill.status === 'present' ? bodiesOf(versionsOf(skill)) : new Set();

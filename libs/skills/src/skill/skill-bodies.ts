import { BLOBS, type Blobs, discardBodies, type OpenBody, openWhileThere, UnusedKeys } from '@app/blobs';
import {
  Decisions,
  idOf,
  type KeyOwner,
  isUnavailable,
  reject,
  revealed,
  Semaphore,
  streamOf,
  Unavailable,
  unlessLeft,
} from '@app/kernel';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { SkillFile } from '../archive';
import { FileFindings } from './file-findings';
import { headFindings } from './head-findings';
import { type Skill, skillDecider, versionsOf } from './skill.decider';
import type { StoredFile } from './skill.events';
import { type Put, StoringFiles } from './storing-files';
import { bodiesOf, type VersionContent } from './version';

/** A Skill, and the Space that owns its key. */
export interface SkillKey {
  readonly skillId: string;
  readonly spaceId: string;
}

/** Whose key the bodies of a Skill have. */
export const skillStream = (skillId: string): string => streamOf(skillDecider.category, skillId);

/** Files that are read for findings at once, beside those that are stored. */
const AT_ONCE = 8;

/** The bodies of the files of Skills, each encrypted under its Skill's key. Stored first, then named by an event. */
@Injectable()
export class SkillBodies implements OnModuleDestroy {
  private readonly findings = new FileFindings();

  constructor(
    @Inject(BLOBS) private readonly blobs: Pick<Blobs, 'group' | 'open' | 'get' | 'remove' | 'haveAll'>,
    private readonly decisions: Decisions,
    private readonly keys: UnusedKeys,
  ) {}

  onModuleDestroy(): void {
    this.findings.end();
  }

  /** Stores files, but for those that `before` has with the same bytes. If one cannot be stored, none stays. */
  store(of: SkillKey, files: readonly SkillFile[], before?: VersionContent): Promise<readonly StoredFile[]> {
    return this.storeAt(skillStream(of.skillId), { spaceId: of.spaceId }, files, before);
  }

  /** As `store`, under the key of a stream. */
  async storeAt(
    stream: string,
    of: KeyOwner,
    files: readonly SkillFile[],
    before: VersionContent | undefined,
  ): Promise<readonly StoredFile[]> {
    const storing = this.beginAt(
      stream,
      of,
      files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      before,
    );
    for (const file of files) storing.add(file);
    return storing.end();
  }

  /** Begins to store files of a new Skill that are still to come, of so many bytes together, about. */
  begin({ skillId, spaceId }: SkillKey, sizeBytes: number): StoringFiles<SkillFile> {
    return this.beginAt(skillStream(skillId), { spaceId }, sizeBytes, undefined, () => this.destroyUnused(skillId));
  }

  /** Destroys the key of a Skill that was rejected with its files. Its id is of this request alone. */
  async destroyUnused(skillId: string): Promise<void> {
    await this.keys.destroy(this.decisions, skillDecider, [skillId]);
  }

  private beginAt(
    stream: string,
    of: KeyOwner,
    sizeBytes: number,
    before: VersionContent | undefined,
    removed?: () => Promise<void>,
  ): StoringFiles<SkillFile> {
    const finder = this.findings.finder(sizeBytes);
    const reading = new Semaphore(AT_ONCE);
    const store = async (
      { path, mediaType, sizeBytes: size, sha256, bytes: given }: SkillFile,
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
      const found = [...headFindings(path), ...findings.value];
      return { path, mediaType, sizeBytes: size, sha256, file: file.value, findings: found };
    };
    return new StoringFiles({ blobs: this.blobs, before, store, end: () => finder.end(), ...(removed && { removed }) });
  }

  /** Files of a stream with what screening finds in them by its rules of today. Rejects `not_found` where one is gone; throws `Unavailable`. */
  async screenedAgain(stream: string, files: readonly StoredFile[]): Promise<readonly StoredFile[]> {
    const finder = this.findings.finder(files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
    try {
      const screened: StoredFile[] = [];
      // One after the other: a Skill may have more bytes than memory should hold.
      for (const file of files) {
        const bytes = (await this.read(stream, file)) ?? reject('not_found', { kind: 'skill', id: idOf(stream) });
        screened.push({
          ...file,
          findings: [...headFindings(revealed<string>(file.path, '')), ...(await finder.find(bytes))],
        });
      }
      return screened;
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
    const store = async (file: StoredFile, put: Put): Promise<StoredFile> => {
      const read = async () => (await this.read(from, file)) ?? reject('not_found', { kind: 'skill', id: idOf(from) });
      return { ...file, file: await put(to, read, {}) };
    };
    const storing = new StoringFiles<StoredFile>({ blobs: this.blobs, before, store });
    for (const file of files) storing.add(file);
    return storing.end();
  }

  /** Removes bodies that no event came to name. */
  remove(files: readonly StoredFile[]): Promise<void> {
    return discardBodies(
      this.blobs,
      files.map(({ file }) => file),
    );
  }

  /** Acts with stored files, and removes those that the Skill does not name then. What cannot be removed now is swept later. */
  async naming<T>(skillId: string, files: readonly StoredFile[], act: () => Promise<T>): Promise<T> {
    const removing = () => unlessLeft(() => this.removeUnnamed(skillId, files));
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
    if (files.length === 0) return;
    const smallest = files.reduce((least, file) => (file.sizeBytes < least.sizeBytes ? file : least));
    const areStored = this.blobs.haveAll(files.map(({ file }) => file));
    const [isStored, read] = await Promise.all([areStored, this.read(stream, smallest)]);
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
    await discardBodies(this.blobs, unnamed);
  }
}

const namedBodies = (skill: Skill): ReadonlySet<string> =>
  skill.status === 'present' ? bodiesOf(versionsOf(skill)) : new Set();

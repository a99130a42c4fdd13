import { BLOBS, type Blobs } from '@app/blobs';
import { findingsWithin } from '@app/screening';
import { Decisions, isUnavailable, reject, Semaphore, streamOf, Unavailable } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import type { SkillFile } from '../archive';
import { isText } from '../loading/search-texts';
import { type Skill, skillDecider, versionsOf } from './skill.decider';
import type { StoredFile } from './skill.events';
import { bodiesOf, filesOf, type SkillVersion, type VersionContent } from './version';

/** Files that are written or read at once. */
const AT_ONCE = 8;

/** The bodies of the files of Skills, each encrypted under its Skill's key. Stored first, then named by an event. */
@Injectable()
export class SkillBodies {
  constructor(
    @Inject(BLOBS) private readonly blobs: Blobs,
    private readonly decisions: Decisions,
  ) {}

  /** Stores files, but for those that `before` has with the same bytes. If one cannot be stored, none stays. */
  async store(
    { skillId, spaceId }: { readonly skillId: string; readonly spaceId: string },
    files: readonly SkillFile[],
    before?: VersionContent,
  ): Promise<readonly StoredFile[]> {
    const places = new Semaphore(AT_ONCE);
    const stream = streamOf(skillDecider.category, skillId);
    const stored: string[] = [];
    const find = findingsWithin();
    const storing = files.map((file) =>
      places.run(async (): Promise<StoredFile> => {
        const { path, mediaType, sizeBytes, sha256 } = file;
        const same = before?.files.get(path);
        if (same?.sha256 === sha256 && same.mediaType === mediaType) return same;
        const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length);
        const { name } = await this.blobs.put(stream, bytes, { spaceId });
        stored.push(name);
        const findings = isText(bytes) ? await find.slowly(bytes.toString('utf8')) : [];
        return { path, mediaType, sizeBytes, sha256, file: name, findings: [...findings] };
      }),
    );
    const results = await Promise.allSettled(storing);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) {
      await this.blobs.remove(stored);
      throw failed.reason;
    }
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
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

  /** Throws `Unavailable` unless the files of a version can be read, and so be searched. They were stored before they were named; what may be away is the store. */
  async assertReadable(skillId: string, version: SkillVersion): Promise<void> {
    const [first] = filesOf(version).toSorted((a, b) => a.sizeBytes - b.sizeBytes);
    if (first !== undefined && (await this.read(skillId, first)) === undefined)
      throw new Unavailable('blobs', 'the files of the Skill cannot be read');
  }

  /** The bytes of a file. Undefined if it, or its key, is gone. */
  read(skillId: string, { file }: StoredFile): Promise<Buffer | undefined> {
    return this.blobs.get(streamOf(skillDecider.category, skillId), file);
  }

  /** As `read`, in pieces. */
  async open(skillId: string, { file }: StoredFile) {
    return (
      (await this.blobs.open(streamOf(skillDecider.category, skillId), file)) ??
      reject('not_found', { kind: 'skill', id: skillId })
    );
  }

  private async removeUnnamed(skillId: string, files: readonly StoredFile[]): Promise<void> {
    if (files.length === 0) return;
    const named = namedBodies((await this.decisions.load(skillDecider, skillId)).state);
    const unnamed = files.map(({ file }) => file).filter((file) => !named.has(file));
    if (unnamed.length > 0) await this.blobs.remove(unnamed);
  }
}

const namedBodies = (skill: Skill): ReadonlySet<string> =>
  skill.status === 'present' ? bodiesOf(versionsOf(skill)) : new Set();

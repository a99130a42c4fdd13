import { type CommandMeta, Decisions, deriveId, isUnavailable, type Receipt, streamOf, unlessLeft } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import { SkillBodies } from '../skill/skill-bodies';
import type { StoredFile } from '../skill/skill.events';
import { bodiesOf, type VersionContent } from '../skill/version';
import { type EntryCommand, entryDecider, latestVersion, type NewListing } from './entry.decider';

/** A version to be listed. */
export interface ListedContent {
  readonly version: Omit<NewListing, 'versionId' | 'files'>;
  /** Its files as another stream has them: what is rejected for their findings is not copied. */
  readonly files: readonly StoredFile[];
  readonly acceptFindings: boolean;
  /** Stores its files for a stream, but for those that `before` has. */
  store(stream: string, before: VersionContent | undefined): Promise<readonly StoredFile[]>;
}

/** Lists versions of entries, with their files. */
@Injectable()
export class EntryListing {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: SkillBodies,
  ) {}

  /** Adds a version where it is not the newest already. Its files are stored first; those that no event came to name are removed. Rejects as `entryDecider`, and throws `Unavailable`. */
  async list(entryId: string, content: ListedContent, meta: CommandMeta): Promise<Receipt> {
    const { version, acceptFindings } = content;
    const stream = streamOf(entryDecider.category, entryId);
    const { state: entry } = await this.decisions.load(entryDecider, entryId);
    const versionId = deriveId(meta.commandId, 'version');
    const command = (files: readonly StoredFile[]): EntryCommand => ({
      type: 'List',
      version: { ...version, versionId, files: [...files] },
      acceptFindings,
    });
    const isNew = entryDecider.decide(command(content.files), entry).length > 0;
    const files = isNew
      ? await content.store(stream, entry.status === 'absent' ? undefined : latestVersion(entry))
      : [];
    try {
      await this.bodies.assertReadable(stream, files);
      const receipt = await this.decisions.transact(entryDecider, entryId, command(files), meta);
      await unlessLeft(() => this.removeUnnamed(entryId, files));
      return receipt;
    } catch (error) {
      // An event may name them yet.
      if (!(isUnavailable(error) && error.outcome === 'unknown'))
        await unlessLeft(() => this.removeUnnamed(entryId, files));
      throw error;
    }
  }

  /** Another request may have listed the same meanwhile. */
  private async removeUnnamed(entryId: string, files: readonly StoredFile[]): Promise<void> {
    if (files.length === 0) return;
    const { state: entry } = await this.decisions.load(entryDecider, entryId);
    const named = entry.status === 'absent' ? new Set<string>() : bodiesOf(entry.versions.toArray());
    const unnamed = files.filter(({ file }) => !named.has(file));
    if (unnamed.length > 0) await this.bodies.remove(unnamed);
  }
}

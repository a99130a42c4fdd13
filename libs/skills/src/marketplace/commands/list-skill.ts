import { type CommandMeta, Decisions, deriveId, isUnavailable, type Receipt, reject, streamOf } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SkillBodies, skillStream } from '../../skill/skill-bodies';
import { activeVersion, skillDecider } from '../../skill/skill.decider';
import type { StoredFile } from '../../skill/skill.events';
import { bodiesOf, filesOf, hashOf } from '../../skill/version';
import { type EntryCommand, entryDecider, entryIdOf, latestVersion } from '../entry.decider';

/**
 * Copies the live version of a Skill to the marketplace: as a new entry, or as the next version of its entry. Installations have it
 * once its copied files can be read. Throws `not_found`, `conflict` where nothing is published or the entry is archived,
 * `findings_not_accepted`, and `Unavailable`.
 */
export class ListSkill extends Command<{ readonly entryId: string; readonly receipt: Receipt }> {
  constructor(
    readonly skillId: string,
    readonly acceptFindings: boolean,
    readonly userId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ListSkill)
export class ListSkillHandler implements ICommandHandler<ListSkill> {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: SkillBodies,
  ) {}

  async execute({ skillId, acceptFindings, userId, meta }: ListSkill) {
    const { state: skill } = await this.decisions.load(skillDecider, skillId);
    if (skill.status !== 'present') return reject('not_found', { kind: 'skill', id: skillId });
    const version = activeVersion(skill) ?? reject('conflict', { reason: 'not_published' });
    const entryId = entryIdOf(skillId);
    const stream = streamOf(entryDecider.category, entryId);
    const { state: entry } = await this.decisions.load(entryDecider, entryId);
    const { name, slug } = skill;
    const { description, instructions, frontmatter, findings } = version;
    const command = (files: readonly StoredFile[]): EntryCommand => ({
      type: 'List',
      version: {
        versionId: deriveId(meta.commandId, 'version'),
        sourceId: skillId,
        listedBy: userId,
        name,
        slug,
        description,
        instructions,
        frontmatter: frontmatter as Record<string, never>,
        findings: [...findings],
        files: [...files],
        contentHash: hashOf(version),
      },
      acceptFindings,
    });
    // What would be rejected is not copied.
    const decided = entryDecider.decide(command(filesOf(version)), entry);
    const before = entry.status === 'absent' ? undefined : latestVersion(entry);
    const files =
      decided.length === 0 ? [] : await this.bodies.copy(skillStream(skillId), stream, filesOf(version), before);
    try {
      await this.bodies.assertReadable(stream, files);
      const receipt = await this.decisions.transact(entryDecider, entryId, command(files), meta);
      await this.removeUnnamed(entryId, files);
      return { entryId, receipt };
    } catch (error) {
      // An event may name them yet.
      if (!(isUnavailable(error) && error.outcome === 'unknown')) await this.removeUnnamed(entryId, files);
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

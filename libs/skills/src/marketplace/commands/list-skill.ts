import { type CommandMeta, Decisions, type Receipt, reject, revealed } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { screened } from '../../skill/draft';
import { headFindings } from '../../skill/head-findings';
import { SkillBodies, skillStream } from '../../skill/skill-bodies';
import { activeVersion, skillDecider } from '../../skill/skill.decider';
import { emptyContent, filesOf, hashOf } from '../../skill/version';
import { entryIdOf } from '../entry.decider';
import { EntryListing } from '../entry-listing';

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
    private readonly listing: EntryListing,
  ) {}

  async execute({ skillId, acceptFindings, userId: listedBy, meta }: ListSkill) {
    const { state: skill } = await this.decisions.load(skillDecider, skillId);
    if (skill.status !== 'present') return reject('not_found', { kind: 'skill', id: skillId });
    const live = activeVersion(skill) ?? reject('conflict', { reason: 'not_published' });
    const entryId = entryIdOf(skillId);
    const { name, slug } = skill;
    const { description, instructions } = live;
    const frontmatter = live.frontmatter as Record<string, never>;
    // By the rules of today: those of the day when it was saved may have found less. Agents are given the slug as well.
    const read = { description: revealed(description, ''), instructions: revealed(instructions, '') };
    const findings = [...headFindings(revealed(slug, '')), ...(screened(read, emptyContent).findings ?? [])];
    const texts = { name, slug, description, instructions, frontmatter, findings };
    const files = await this.bodies.screenedAgain(skillStream(skillId), filesOf(live));
    const receipt = await this.listing.list(
      entryId,
      {
        version: { sourceId: skillId, listedBy, ...texts, contentHash: hashOf(live) },
        files,
        acceptFindings,
        store: (stream, before) => this.bodies.copy(skillStream(skillId), stream, files, before),
      },
      meta,
    );
    return { entryId, receipt };
  }
}

import { type CommandMeta, Decisions, deriveId, isUnavailable, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { SkillFile } from '../../archive';
import { SkillNames } from '../../names/skill-names';
import { SkillLimit } from '../skill-limit';
import { SkillBodies, type SkillKey } from '../skill-bodies';
import type { StoredFile } from '../skill.events';
import type { StoringFiles } from '../storing-files';
import { skillDecider, type SkillOrigin } from '../skill.decider';
import type { GivenContent } from './update-skill';

/** A Skill to create. `slug` is made from the name. */
export interface NewSkill {
  readonly origin: SkillOrigin;
  readonly name: string;
  readonly slug: string;
  readonly content: Required<Omit<GivenContent, 'removed'>>;
  readonly publish: boolean;
  /** What has begun to store the files in `content`, under the key of `createdSkillId`. The command ends it. */
  readonly storing?: StoringFiles<SkillFile>;
}

/** The Skill that a command creates. */
export const createdSkillId = ({ commandId }: Pick<CommandMeta, 'commandId'>): string => deriveId(commandId, 'skill');

/** The id of the new Skill, and where it is in the log. */
export interface CreatedSkill {
  readonly skillId: string;
  readonly receipt: Receipt;
}

/** Creates a Skill with a draft, or with its first version. Throws `name_taken`, `too_large`, and `conflict` where the place is full. */
export class CreateSkill extends Command<CreatedSkill> {
  constructor(
    readonly skill: NewSkill,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreateSkill)
export class CreateSkillHandler implements ICommandHandler<CreateSkill> {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: SkillBodies,
    private readonly names: SkillNames,
    private readonly limits: SkillLimit,
  ) {}

  async execute({ skill, meta }: CreateSkill): Promise<CreatedSkill> {
    try {
      return await this.create(skill, meta);
    } catch (error) {
      // Files come with uploads alone, which are never repeated; of others a repeat may go on. What may be there keeps its key.
      const isOver = skill.content.files.length > 0 && !(isUnavailable(error) && error.outcome === 'unknown');
      if (isOver) await this.bodies.destroyUnused(createdSkillId(meta));
      throw error;
    }
  }

  private async create(skill: NewSkill, meta: CommandMeta): Promise<CreatedSkill> {
    const { origin, name, slug, content, publish } = skill;
    const skillId = createdSkillId(meta);
    const { spaceId, agentId, creatorId: savedBy } = origin;
    const { files: _, ...texts } = content;
    const files = await this.stored({ skillId, spaceId }, skill);
    const draft = {
      versionId: deriveId(meta.commandId, 'version'),
      savedBy,
      change: { ...texts, files },
      limits: this.limits.ofVersion,
    };
    const receipt = await this.bodies.naming(skillId, files, () =>
      this.names.hold({ spaceId, agentId, skillId, name, slug }, meta, (ticket) =>
        this.decisions.transact(
          skillDecider,
          skillId,
          { type: 'Create', origin, name, slug, ticket, draft, publish },
          meta,
        ),
      ),
    );
    return { skillId, receipt };
  }

  private async stored(key: SkillKey, { content, storing }: NewSkill): Promise<readonly StoredFile[]> {
    const assert = async (): Promise<void> => this.limits.assert(content.files);
    await (storing?.orDiscard(assert) ?? assert());
    return storing === undefined ? this.bodies.store(key, content.files) : storing.end();
  }
}

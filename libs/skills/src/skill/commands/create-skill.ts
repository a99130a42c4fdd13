import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SkillNames } from '../../names/skill-names';
import { SkillLimit } from '../skill-limit';
import { SkillBodies } from '../skill-bodies';
import { skillDecider, type SkillOrigin } from '../skill.decider';
import type { GivenContent } from './update-skill';

/** A Skill to create. `slug` is made from the name. */
export interface NewSkill {
  readonly origin: SkillOrigin;
  readonly name: string;
  readonly slug: string;
  readonly content: Required<Omit<GivenContent, 'removed'>>;
  readonly publish: boolean;
}

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

  async execute({ skill: { origin, name, slug, content, publish }, meta }: CreateSkill): Promise<CreatedSkill> {
    const skillId = deriveId(meta.commandId, 'skill');
    const { spaceId, agentId, creatorId: savedBy } = origin;
    const { files: given, ...texts } = content;
    this.limits.assert(given);
    const files = await this.bodies.store({ skillId, spaceId }, given);
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
}

import { type CommandMeta, Decisions, type Receipt, unlessLeft } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SkillNames } from '../../names/skill-names';
import { skillDecider } from '../skill.decider';

/** Deletes a Skill permanently, with all its versions. Its name is free then. */
export class DeleteSkill extends Command<Receipt> {
  constructor(
    readonly skillId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DeleteSkill)
export class DeleteSkillHandler implements ICommandHandler<DeleteSkill> {
  constructor(
    private readonly decisions: Decisions,
    private readonly names: SkillNames,
  ) {}

  async execute({ skillId, meta }: DeleteSkill): Promise<Receipt> {
    const { state: skill } = await this.decisions.load(skillDecider, skillId);
    const receipt = await this.decisions.transact(skillDecider, skillId, { type: 'Delete' }, meta);
    if (skill.status === 'present') await unlessLeft(() => this.names.release(skill.spaceId, skill.ticket, meta));
    return receipt;
  }
}

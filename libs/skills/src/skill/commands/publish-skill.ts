import { type CommandMeta, Decisions, type Receipt, reject } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SkillBodies, skillStream } from '../skill-bodies';
import { skillDecider } from '../skill.decider';
import { filesOf } from '../version';

/** Publishes the draft of a Skill: Agents load it from then on, and it never changes. Throws `not_found`, `conflict` without a draft, and `Unavailable` while its files cannot be read. */
export class PublishSkill extends Command<Receipt> {
  constructor(
    readonly skillId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(PublishSkill)
export class PublishSkillHandler implements ICommandHandler<PublishSkill> {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: SkillBodies,
  ) {}

  async execute({ skillId, meta }: PublishSkill): Promise<Receipt> {
    const { state: skill } = await this.decisions.load(skillDecider, skillId);
    if (skill.status !== 'present') return reject('not_found', { kind: 'skill', id: skillId });
    if (skill.draft !== null) await this.bodies.assertReadable(skillStream(skillId), filesOf(skill.draft));
    // A repeat of the command finds its receipt.
    const versionId = skill.draft?.id ?? '';
    return this.decisions.transact(skillDecider, skillId, { type: 'Publish', versionId }, meta);
  }
}

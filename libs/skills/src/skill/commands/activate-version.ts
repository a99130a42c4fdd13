import { type CommandMeta, Decisions, type Receipt, reject } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SkillBodies, skillStream } from '../skill-bodies';
import { skillDecider } from '../skill.decider';
import { filesOf } from '../version';

/** Makes a published version of a Skill live, with its files. Throws `not_found`, `invalid_body` for a version that is not the Skill's or not published, and `Unavailable` while its files cannot be read. */
export class ActivateVersion extends Command<Receipt> {
  constructor(
    readonly skillId: string,
    readonly versionId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ActivateVersion)
export class ActivateVersionHandler implements ICommandHandler<ActivateVersion> {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: SkillBodies,
  ) {}

  async execute({ skillId, versionId, meta }: ActivateVersion): Promise<Receipt> {
    const { state: skill } = await this.decisions.load(skillDecider, skillId);
    if (skill.status !== 'present') return reject('not_found', { kind: 'skill', id: skillId });
    const version = skill.published.find(({ id }) => id === versionId);
    if (version !== undefined) await this.bodies.assertReadable(skillStream(skillId), filesOf(version));
    return this.decisions.transact(skillDecider, skillId, { type: 'Activate', versionId }, meta);
  }
}

import { type CommandMeta, Decisions, type Receipt, reject } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { skillDecider } from '../skill.decider';

/** Discards the draft of a Skill. Throws `not_found`, and `conflict` where nothing is published. */
export class DiscardDraft extends Command<Receipt> {
  constructor(
    readonly skillId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DiscardDraft)
export class DiscardDraftHandler implements ICommandHandler<DiscardDraft> {
  constructor(private readonly decisions: Decisions) {}

  async execute({ skillId, meta }: DiscardDraft): Promise<Receipt> {
    const { state: skill } = await this.decisions.load(skillDecider, skillId);
    if (skill.status !== 'present') return reject('not_found', { kind: 'skill', id: skillId });
    const versionId = skill.draft?.id ?? '';
    return this.decisions.transact(skillDecider, skillId, { type: 'DiscardDraft', versionId }, meta);
  }
}

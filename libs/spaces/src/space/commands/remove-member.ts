import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { spaceDecider } from '../space.decider';

/** Ends a membership of a team Space. Throws `last_owner`. */
export class RemoveMember extends Command<Receipt> {
  constructor(
    readonly spaceId: string,
    readonly userId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(RemoveMember)
export class RemoveMemberHandler implements ICommandHandler<RemoveMember> {
  constructor(private readonly decisions: Decisions) {}

  execute({ spaceId, userId, meta }: RemoveMember): Promise<Receipt> {
    return this.decisions.transact(spaceDecider, spaceId, { type: 'RemoveMember', userId }, meta);
  }
}

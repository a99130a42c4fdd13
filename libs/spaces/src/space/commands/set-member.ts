import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { spaceDecider } from '../space.decider';
import type { SpaceRole } from '../space.events';

/** Makes a user a member of a team Space, or changes their role. Throws `last_owner`. */
export class SetMember extends Command<Receipt> {
  constructor(
    readonly spaceId: string,
    readonly userId: string,
    readonly role: SpaceRole,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(SetMember)
export class SetMemberHandler implements ICommandHandler<SetMember> {
  constructor(private readonly decisions: Decisions) {}

  execute({ spaceId, userId, role, meta }: SetMember): Promise<Receipt> {
    return this.decisions.transact(spaceDecider, spaceId, { type: 'SetMember', userId, role }, meta);
  }
}

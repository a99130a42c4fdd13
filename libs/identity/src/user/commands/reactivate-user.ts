import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AdminRegister } from '../../admins/admin-register';
import { userDecider } from '../user.decider';

/** Reactivates a suspended user. */
export class ReactivateUser extends Command<Receipt> {
  constructor(
    readonly userId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ReactivateUser)
export class ReactivateUserHandler implements ICommandHandler<ReactivateUser> {
  constructor(
    private readonly decisions: Decisions,
    private readonly admins: AdminRegister,
  ) {}

  execute({ userId, meta }: ReactivateUser): Promise<Receipt> {
    return this.admins.announcing(userId, { status: 'active' }, meta, (appointed) =>
      this.decisions.transact(userDecider, userId, { type: 'Reactivate', ...appointed }, meta),
    );
  }
}

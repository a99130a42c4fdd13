import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AdminRegister } from '../../admins/admin-register';
import { userDecider } from '../user.decider';

/** Suspends a user from the next request on. Throws `conflict` for the last admin. */
export class SuspendUser extends Command<Receipt> {
  constructor(
    readonly userId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(SuspendUser)
export class SuspendUserHandler implements ICommandHandler<SuspendUser> {
  constructor(
    private readonly decisions: Decisions,
    private readonly admins: AdminRegister,
  ) {}

  execute({ userId, meta }: SuspendUser): Promise<Receipt> {
    return this.admins.announcing(userId, { status: 'suspended' }, meta, (appointed) =>
      this.decisions.transact(userDecider, userId, { type: 'Suspend', ...appointed }, meta),
    );
  }
}

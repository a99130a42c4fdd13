import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AdminRegister } from '../../admins/admin-register';
import { userDecider } from '../user.decider';

/** Stops a user from acting, from the next request on. Refuses with `conflict` for the last admin. */
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

  async execute({ userId, meta }: SuspendUser): Promise<Receipt> {
    const appointment = await this.admins.appointmentFor(userId, { status: 'suspended' }, meta);
    return this.decisions.transact(userDecider, userId, { type: 'Suspend', ...appointment }, meta);
  }
}

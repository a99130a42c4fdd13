import { type CommandMeta, Decisions, type Receipt, unlessLeft } from '@app/kernel';
import { Reservations } from '@app/reservations';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AdminRegister } from '../../admins/admin-register';
import { userDecider } from '../user.decider';

/** Deletes a user permanently. Throws `conflict` for the last admin. */
export class DeleteUser extends Command<Receipt> {
  constructor(
    readonly userId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DeleteUser)
export class DeleteUserHandler implements ICommandHandler<DeleteUser> {
  constructor(
    private readonly decisions: Decisions,
    private readonly reservations: Reservations,
    private readonly admins: AdminRegister,
  ) {}

  async execute({ userId, meta }: DeleteUser): Promise<Receipt> {
    const receipt = await this.admins.announcing(userId, { status: 'deleted' }, meta, (appointed) =>
      this.decisions.transact(userDecider, userId, { type: 'Delete', ...appointed }, meta),
    );
    await unlessLeft(async () => {
      const { state } = await this.decisions.load(userDecider, userId);
      if (state.status === 'deleted') await this.reservations.release(state.mailClaim, meta);
    });
    return receipt;
  }
}

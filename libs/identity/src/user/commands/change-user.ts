import { type CommandMeta, Decisions, type Receipt, refuse, streamOf } from '@app/kernel';
import { Reservations } from '@app/reservations';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AdminRegister } from '../../admins/admin-register';
import { forfeitMail } from '../mail';
import { isLiving, userDecider, type UserFields } from '../user.decider';
import type { InstanceRole } from '../user.events';

/** Changes the fields given. Refuses with `name_taken` (mail address) and `conflict` (the last admin loses the role). */
export class ChangeUser extends Command<Receipt> {
  constructor(
    readonly userId: string,
    readonly fields: UserFields,
    readonly role: InstanceRole | undefined,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ChangeUser)
export class ChangeUserHandler implements ICommandHandler<ChangeUser> {
  constructor(
    private readonly decisions: Decisions,
    private readonly reservations: Reservations,
    private readonly admins: AdminRegister,
  ) {}

  async execute({ userId, fields, role, meta }: ChangeUser): Promise<Receipt> {
    const { state: user } = await this.decisions.load(userDecider, userId);
    if (!isLiving(user)) return refuse('not_found');
    const mailClaim = fields.email === undefined ? undefined : this.reservations.claim('user.email', fields.email, meta.commandId);
    const moves = mailClaim !== undefined && mailClaim.key !== user.mailClaim.key;
    const receipt = await this.reservations.hold(moves ? [mailClaim] : [], streamOf(userDecider.category, userId), forfeitMail(this.decisions), meta, async () => {
      const appointment = role === undefined ? {} : await this.admins.appointmentFor(userId, { role }, meta);
      return this.decisions.transact(userDecider, userId, { type: 'Change', fields, ...appointment, ...(role === undefined ? {} : { role }), ...(mailClaim === undefined ? {} : { mailClaim }) }, meta);
    });
    if (moves) await this.reservations.release(user.mailClaim, meta);
    return receipt;
  }
}

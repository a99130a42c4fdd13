import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Reservations } from '@app/reservations';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AdminRegister, type Appointed } from '../../admins/admin-register';
import { claimingUser } from '../claimant';
import { userDecider } from '../user.decider';
import type { InstanceRole, Language } from '../user.events';

/** A user who is to be created. */
export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly role: InstanceRole;
  readonly language: Language;
}

/** Creates a user. Throws `name_taken` if another user has the mail address. Without `userId` it is derived from the command. */
export class CreateUser extends Command<{ readonly userId: string; readonly receipt: Receipt }> {
  constructor(
    readonly user: NewUser,
    readonly meta: CommandMeta,
    readonly userId: string = deriveId(meta.commandId, 'user'),
  ) {
    super();
  }
}

@CommandHandler(CreateUser)
export class CreateUserHandler implements ICommandHandler<CreateUser> {
  constructor(
    private readonly decisions: Decisions,
    private readonly reservations: Reservations,
    private readonly admins: AdminRegister,
  ) {}

  async execute({ user, meta, userId }: CreateUser): Promise<{ readonly userId: string; readonly receipt: Receipt }> {
    const mailClaim = this.reservations.claim('user.email', user.email);
    const create = (appointed: Appointed = {}): Promise<Receipt> =>
      this.decisions.transact(
        userDecider,
        userId,
        { type: 'Create', userId, ...user, ...appointed, mailClaim, usageWindowStart: meta.now.toISOString() },
        meta,
      );
    const receipt = await this.reservations.hold([mailClaim], claimingUser(this.decisions, userId), meta, () =>
      user.role === 'admin' ? this.admins.appointing(userId, meta, create) : create(),
    );
    return { userId, receipt };
  }
}

import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Reservations } from '@app/reservations';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AdminRegister } from '../../admins/admin-register';
import { claimingUser } from '../mail';
import { userDecider } from '../user.decider';
import type { InstanceRole, Language } from '../user.events';

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly role: InstanceRole;
  readonly language: Language;
}

/** Creates a user. Refuses with `name_taken` where another user has the mail address. `userId` is derived from the command where absent. */
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
    const receipt = await this.reservations.hold([mailClaim], claimingUser(this.decisions, userId), meta, async () => {
      const appointment = user.role === 'admin' ? { appointment: await this.admins.appoint(userId, meta) } : {};
      const command = { type: 'Create', userId, ...user, ...appointment, mailClaim, usageWindowStart: meta.now.toISOString() } as const;
      return this.decisions.transact(userDecider, userId, command, meta);
    });
    return { userId, receipt };
  }
}

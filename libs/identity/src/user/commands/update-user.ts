import { type CommandMeta, Decisions, type Receipt, reject } from '@app/kernel';
import { type Claim, Reservations } from '@app/reservations';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { AdminRegister, type Appointed } from '../../admins/admin-register';
import { claimingUser } from '../claimant';
import { isLiving, type LivingUser, userDecider, type UserFields } from '../user.decider';
import type { InstanceRole } from '../user.events';

/** Changes the fields given. Throws `name_taken` (mail address) and `conflict` (the last admin would lose the role). */
export class UpdateUser extends Command<Receipt> {
  constructor(
    readonly userId: string,
    readonly fields: UserFields,
    readonly role: InstanceRole | undefined,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateUser)
export class UpdateUserHandler implements ICommandHandler<UpdateUser> {
  constructor(
    private readonly decisions: Decisions,
    private readonly reservations: Reservations,
    private readonly admins: AdminRegister,
  ) {}

  async execute({ userId, fields, role, meta }: UpdateUser): Promise<Receipt> {
    const { state: user } = await this.decisions.load(userDecider, userId);
    if (!isLiving(user)) return reject('not_found', { kind: 'user', id: userId });
    const mailClaim = this.claim(fields.email, user);
    const added = mailClaim === undefined || mailClaim === user.mailClaim ? [] : [mailClaim];
    const change = (given: Appointed & { readonly role?: InstanceRole } = {}) =>
      this.decisions.transact(
        userDecider,
        userId,
        { type: 'Update', fields, ...given, ...(mailClaim === undefined ? {} : { mailClaim }) },
        meta,
      );
    return this.reservations.hold(added, claimingUser(this.decisions, userId), meta, () =>
      role === undefined
        ? change()
        : this.admins.announcing(userId, { role }, meta, (appointed) => change({ ...appointed, role })),
    );
  }

  /** The claim to a given mail address: a new one, or the present one if the address stays. */
  private claim(email: string | undefined, { mailClaim: current }: LivingUser): Claim | undefined {
    if (email === undefined) return undefined;
    const claim = this.reservations.claim('user.email', email);
    return claim.key === current.key ? current : claim;
  }
}

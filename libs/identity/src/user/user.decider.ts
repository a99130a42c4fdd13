import { changedFields, type Decider, givenFields, never, reject, type Sensitive } from '@app/kernel';
import { type Claim, assertClaims, type Forfeited, forfeiting } from '@app/reservations';
import { Set as PersistentSet } from 'immutable';
import type { InstanceRole, Language, UserEvent } from './user.events';

interface Profile {
  readonly email: Sensitive<string>;
  readonly name: Sensitive<string>;
  readonly role: InstanceRole;
  readonly language: Language;
  readonly usageWindowStart: string;
  readonly mailClaim: Claim;
  /** The last entry of the admin register that reached this user, -1 before the first. */
  readonly appointment: number;
}

interface Memory {
  readonly forfeited: Forfeited;
}

/** State of a user. */
export type User = Memory &
  (
    | ({ readonly status: 'absent' } | { readonly status: 'deleted'; readonly mailClaim: Claim })
    | ({ readonly status: 'active' | 'suspended' } & Profile)
  );
/** A user who is not deleted, active or suspended. */
export type LivingUser = Extract<User, Profile>;

/** Fields of a user in a command. Absent ones do not change. */
export interface UserFields {
  readonly email?: string;
  readonly name?: string;
  readonly language?: Language;
  readonly usageWindowStart?: string;
}

/** `appointment` comes from the admin register if the command makes or ends an active admin. */
interface Appointed {
  readonly appointment?: number;
}

/** What can be asked of a user. */
export type UserCommand = Appointed &
  (
    | {
        readonly type: 'Create';
        readonly userId: string;
        readonly email: string;
        readonly name: string;
        readonly role: InstanceRole;
        readonly language: Language;
        readonly usageWindowStart: string;
        readonly mailClaim: Claim;
      }
    | { readonly type: 'Update'; readonly fields: UserFields; readonly role?: InstanceRole; readonly mailClaim?: Claim }
    | { readonly type: 'Suspend' | 'Reactivate' | 'Delete' }
    | { readonly type: 'ForfeitClaim'; readonly claim: Claim }
  );

export const userDecider: Decider<User, UserCommand, UserEvent> = {
  category: 'user',
  initial: { status: 'absent', forfeited: PersistentSet() },

  decide: (command, user) => {
    switch (command.type) {
      case 'Create':
        return create(command, user);
      case 'ForfeitClaim':
        return forfeit(command.claim, user);
      case 'Update':
        return change(command, living(user));
      case 'Suspend':
        return suspend(command, living(user));
      case 'Reactivate':
        return reactivate(command, living(user));
      case 'Delete':
        return remove(command, user);
      default:
        return never(command);
    }
  },

  evolve: (user, event) => {
    if (event.type === 'ClaimForfeited') return { ...user, forfeited: forfeiting(user.forfeited, [event.data]) };
    if (event.type === 'UserCreated') {
      const { userId: _, appointment = -1, ...fields } = event.data;
      return { status: 'active', forfeited: user.forfeited, ...fields, appointment };
    }
    if (!isLiving(user)) return user;
    const appointment = 'appointment' in event.data ? (event.data.appointment ?? user.appointment) : user.appointment;
    switch (event.type) {
      case 'UserChanged': {
        const { releasedMailClaim, ...fields } = event.data;
        return {
          ...user,
          ...givenFields(fields),
          forfeited: forfeiting(user.forfeited, releasedMailClaim === undefined ? [] : [releasedMailClaim]),
        };
      }
      case 'UserRoleChanged':
        return { ...user, role: event.data.role, appointment };
      case 'UserSuspended':
        return { ...user, status: 'suspended', appointment };
      case 'UserReactivated':
        return { ...user, status: 'active', appointment };
      case 'UserDeleted':
        return { status: 'deleted', forfeited: user.forfeited, mailClaim: user.mailClaim };
      default:
        return never(event);
    }
  },

  owner: (event) => (event.type === 'UserCreated' ? { userId: event.data.userId } : {}),
};

/** True for an active or a suspended user. */
export const isLiving = (user: User): user is LivingUser => user.status === 'active' || user.status === 'suspended';

/** True for an active admin: a suspended one does not count. */
export const isActiveAdmin = (user: User): user is LivingUser => user.status === 'active' && user.role === 'admin';

type Of<Type extends UserCommand['type']> = Extract<UserCommand, { readonly type: Type }>;

const create = ({ type: _type, ...given }: Of<'Create'>, user: User): readonly UserEvent[] => {
  if (user.status !== 'absent')
    return user.status !== 'deleted' && user.mailClaim.key === given.mailClaim.key
      ? []
      : reject('conflict', { reason: 'exists' });
  assertClaims([given.mailClaim], user.forfeited);
  if (given.role === 'admin' && given.appointment === undefined)
    return reject('conflict', { reason: 'concurrent_changes' });
  return [{ type: 'UserCreated', data: given }];
};

const change = (command: Of<'Update'>, user: LivingUser): readonly UserEvent[] => {
  const fields = changedFields(command.fields, user);
  const events: UserEvent[] = [];
  if (Object.keys(fields).length > 0)
    events.push({ type: 'UserChanged', data: { ...fields, ...movedMail(command.mailClaim, user) } });
  if (command.role !== undefined && roleDiffers(command, user))
    events.push({
      type: 'UserRoleChanged',
      data: { role: command.role, ...appointed(command, user, command.role === 'admin' || user.role === 'admin') },
    });
  return events;
};

/** Mail addresses that differ only in case share a reservation. */
const movedMail = (
  mailClaim: Claim | undefined,
  user: LivingUser,
): { readonly mailClaim?: Claim; readonly releasedMailClaim?: Claim } => {
  if (mailClaim === undefined || mailClaim.key === user.mailClaim.key) return {};
  assertClaims([mailClaim], user.forfeited);
  return { mailClaim, releasedMailClaim: user.mailClaim };
};

/** An admin who was dismissed but never heard of it, and is appointed again, is told of the new appointment. */
const roleDiffers = (command: Of<'Update'>, user: LivingUser): boolean =>
  command.role !== user.role ||
  (isActiveAdmin(user) && command.appointment !== undefined && command.appointment > user.appointment);

const suspend = (command: UserCommand, user: LivingUser): readonly UserEvent[] =>
  user.status === 'suspended' ? [] : [{ type: 'UserSuspended', data: appointed(command, user, user.role === 'admin') }];

const reactivate = (command: UserCommand, user: LivingUser): readonly UserEvent[] => {
  if (user.status === 'active') return [];
  const data = user.role === 'admin' ? { appointment: newer(command, user) } : {};
  return [{ type: 'UserReactivated', data }];
};

const remove = (command: UserCommand, user: User): readonly UserEvent[] => {
  if (user.status === 'deleted') return [];
  const present = living(user);
  return [
    {
      type: 'UserDeleted',
      data: { mailClaim: present.mailClaim, ...appointed(command, present, present.role === 'admin') },
    },
  ];
};

/** The register has the last word on who becomes or ceases to be an active admin; an older word than the last is rejected. */
const appointed = (command: Appointed, user: LivingUser, concernsAdmins: boolean): { readonly appointment?: number } =>
  concernsAdmins && user.status === 'active' ? { appointment: newer(command, user) } : {};

const newer = ({ appointment }: Appointed, user: LivingUser): number =>
  appointment !== undefined && appointment > user.appointment
    ? appointment
    : reject('conflict', { reason: 'concurrent_changes' });

const forfeit = (claim: Claim, user: User): readonly UserEvent[] => {
  if (isLiving(user) && user.mailClaim.key === claim.key) return reject('name_taken');
  return user.status === 'deleted' || user.forfeited.has(claim.ticket) ? [] : [{ type: 'ClaimForfeited', data: claim }];
};

const living = (user: User): LivingUser => (isLiving(user) ? user : reject('not_found'));

import { defineEvent, nameSchema, sensitive, type EventsOf } from '@app/kernel';
import { claimSchema, claimForfeited } from '@app/reservations';
import { z } from 'zod';

export const instanceRole = z.enum(['admin', 'member', 'auditor', 'operator']);
/** What a user may do in the instance (wire, Who is asking). */
export type InstanceRole = z.output<typeof instanceRole>;

export const language = z.enum(['de', 'en']);
/** The language that a user reads. */
export type Language = z.output<typeof language>;

/** A mail address, compared case-insensitively, at most 254 characters (RFC 5321). */
export const mailSchema = z.string().trim().max(254).pipe(z.email());

const mail = sensitive(mailSchema);
const name = sensitive(nameSchema());
/** Revision of the admin register at which the user became an admin or stopped being one (`AdminRegister`). */
const appointment = z.number().int().nonnegative();

export const userCreated = defineEvent({
  type: 'UserCreated',
  description: 'A user was created.',
  data: z.strictObject({
    userId: z.uuid(),
    email: mail,
    name,
    role: instanceRole,
    language,
    usageWindowStart: z.iso.datetime(),
    mailClaim: claimSchema,
    appointment: appointment.optional(),
  }),
});

export const userChanged = defineEvent({
  type: 'UserChanged',
  description:
    'Fields of a user changed; absent ones did not. `mailClaim` and `releasedMailClaim` are present if the mail address changed.',
  data: z.strictObject({
    email: mail.optional(),
    name: name.optional(),
    language: language.optional(),
    usageWindowStart: z.iso.datetime().optional(),
    mailClaim: claimSchema.optional(),
    releasedMailClaim: claimSchema.optional(),
  }),
});

export const userRoleChanged = defineEvent({
  type: 'UserRoleChanged',
  description: 'The instance role of a user changed.',
  data: z.strictObject({ role: instanceRole, appointment: appointment.optional() }),
});

export const userSuspended = defineEvent({
  type: 'UserSuspended',
  description: 'A user was suspended. All their credentials are rejected until they are reactivated.',
  data: z.strictObject({ appointment: appointment.optional() }),
});

export const userReactivated = defineEvent({
  type: 'UserReactivated',
  description: 'A suspended user was reactivated.',
  data: z.strictObject({ appointment: appointment.optional() }),
});

export const userDeleted = defineEvent({
  type: 'UserDeleted',
  description: 'A user was deleted permanently, with everything that belongs to them alone.',
  data: z.strictObject({ mailClaim: claimSchema, appointment: appointment.optional() }),
});

export const userEvents = [
  userCreated,
  userChanged,
  userRoleChanged,
  userSuspended,
  userReactivated,
  userDeleted,
] as const;
export type UserEvent = EventsOf<[...typeof userEvents, typeof claimForfeited]>;

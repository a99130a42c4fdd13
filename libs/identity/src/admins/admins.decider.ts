import { type Decider, defineEvent, type EventsOf, reject } from '@app/kernel';
import { Map as PersistentMap } from 'immutable';
import { z } from 'zod';

const userId = z.uuid();

export const adminAppointed = defineEvent({
  type: 'AdminAppointed',
  description: 'A user will become an active admin.',
  data: z.strictObject({ userId }),
});

export const adminDismissed = defineEvent({
  type: 'AdminDismissed',
  description: 'A user will stop being an active admin. At least one other admin remained at that time.',
  data: z.strictObject({ userId }),
});

export const adminEvents = [adminAppointed, adminDismissed] as const;

export interface Appointment {
  /** Revision of the register at which this was decided. */
  readonly revision: number;
  readonly serving: boolean;
  /** When that was, ISO 8601 UTC. */
  readonly since: string;
}

/** By user id. */
export type Appointments = PersistentMap<string, Appointment>;

export type AdminsCommand =
  | { readonly type: 'Appoint'; readonly userId: string }
  /** `present`: admins whose own streams say they are active, with the appointment that they know of. */
  | { readonly type: 'Dismiss'; readonly userId: string; readonly present: ReadonlyMap<string, number> };

/** The register of admins of the instance: one stream, so that two who dismiss each other meet in it. */
export const adminsDecider: Decider<Appointments, AdminsCommand, EventsOf<typeof adminEvents>> = {
  category: 'admins',
  initial: PersistentMap(),
  decide: (command, appointments) => {
    const serving = appointments.get(command.userId)?.serving === true;
    const { userId } = command;
    if (command.type === 'Appoint') return serving ? [] : [{ type: 'AdminAppointed', data: { userId } }];
    if (!serving) return [];
    const others = [...command.present].filter(
      ([other, revision]) => other !== userId && isServing(appointments.get(other), revision),
    );
    return others.length > 0
      ? [{ type: 'AdminDismissed', data: { userId } }]
      : reject('conflict', { reason: 'last_admin' });
  },
  evolve: (appointments, event) =>
    appointments.set(event.data.userId, {
      revision: event.context.revision,
      serving: event.type === 'AdminAppointed',
      since: event.context.recordedAt,
    }),
};

const isServing = (appointment: Appointment | undefined, revision: number): boolean =>
  appointment?.serving === true && appointment.revision === revision;

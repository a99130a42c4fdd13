import { type CommandMeta, Decisions, refuse, stepOf } from '@app/kernel';
import { isActiveAdmin, isLiving, userDecider } from '../user/user.decider';
import type { InstanceRole } from '../user/user.events';
import { type AdminsCommand, adminsDecider } from './admins.decider';

const INSTANCE = 'instance';

/** Role and status that a command gives; what is absent stays. */
export interface NextStanding {
  readonly role?: InstanceRole;
  readonly status?: 'active' | 'suspended' | 'deleted';
}

/**
 * Holds the rule that an instance always has an active admin, though each user has a stream of their own. Before a user's
 * stream may say that they became an active admin, or ceased to be one, this register says so, and its revision goes into
 * the user's event as a fence: of two words about one user the later holds, however late the earlier arrives. A dismissal
 * counts as remaining only admins who are appointed here and whose own streams confirm that very appointment; so whoever
 * dies between the two writes leaves at worst one admin too few counted, never one too many.
 */
export class AdminRegister {
  constructor(private readonly decisions: Decisions) {}

  /** Announces an active admin; answers the appointment for the user's event. */
  appoint(userId: string, meta: CommandMeta): Promise<number> {
    return this.decide({ type: 'Appoint', userId }, meta);
  }

  /**
   * What a command that gives a user another role or status needs of the register: an appointment where it makes an active
   * admin or ends one, else nothing. Refuses with `conflict` (`last_admin`) where no admin would remain, and with
   * `precondition_failed` before anything is announced.
   */
  async appointmentFor(userId: string, next: NextStanding, meta: CommandMeta): Promise<{ readonly appointment?: number }> {
    const { state: user, revision } = await this.decisions.load(userDecider, userId);
    if (!isLiving(user)) return {};
    const remains = (next.status ?? user.status) === 'active' && (next.role ?? user.role) === 'admin';
    if (!remains && !isActiveAdmin(user)) return {};
    if (meta.ifRevision !== undefined && meta.ifRevision !== revision) return refuse('precondition_failed', { expected: meta.ifRevision, actual: revision });
    const command = remains ? ({ type: 'Appoint', userId } as const) : ({ type: 'Dismiss', userId, present: await this.present() } as const);
    return { appointment: await this.decide(command, meta) };
  }

  private async decide(command: AdminsCommand, meta: CommandMeta): Promise<number> {
    const receipt = await this.decisions.transact(adminsDecider, INSTANCE, command, stepOf(meta, command.type));
    if (receipt.eventIds.length > 0) return receipt.revision;
    const appointment = (await this.decisions.load(adminsDecider, INSTANCE)).state.get(command.userId);
    return appointment?.serving === (command.type === 'Appoint') ? appointment.revision : refuse('conflict');
  }

  /** Who is an active admin, in the order of their appointments. */
  async active(): Promise<readonly string[]> {
    return [...(await this.present())].toSorted(([, a], [, b]) => a - b).map(([userId]) => userId);
  }

  private async present(): Promise<ReadonlyMap<string, number>> {
    const { state } = await this.decisions.load(adminsDecider, INSTANCE);
    const present = new Map<string, number>();
    for (const [userId, { serving }] of state) {
      if (!serving) continue;
      const user = (await this.decisions.load(userDecider, userId)).state;
      if (isActiveAdmin(user)) present.set(userId, user.appointment);
    }
    return present;
  }
}

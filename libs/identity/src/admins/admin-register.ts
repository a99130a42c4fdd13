import { type CommandMeta, Decisions, isDomainError, reject, stepOf, unlessLeft } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import { isActiveAdmin, isLiving, userDecider } from '../user/user.decider';
import type { InstanceRole } from '../user/user.events';
import { type AdminsCommand, adminsDecider } from './admins.decider';

const INSTANCE = 'instance';

/** Role and status in a command. Absent ones do not change. */
export interface NextRole {
  readonly role?: InstanceRole;
  readonly status?: 'active' | 'suspended' | 'deleted';
}

/** How long a command may take between its word in the register and the user's event, before others take that word back who need to. */
export const ANNOUNCED_GRACE_MS = 10_000;

/** The fence that goes into the user's event. */
export interface Appointed {
  readonly appointment?: number;
}

/**
 * Keeps the rule that an instance always has an active admin, though each user has a stream of their own. A user's
 * stream may say that they became or ceased to be an active admin only after this register says so. The revision of
 * the register goes into the user's event as a fence: of two changes the later holds, however late the earlier
 * arrives. A dismissal counts as remaining only admins who are appointed here and whose own streams confirm it. A
 * process that dies between the two writes leaves at worst one admin too few in the count, never one too many, and
 * the next one that needs that admin reinstates them.
 */
@Injectable()
export class AdminRegister {
  constructor(private readonly decisions: Decisions) {}

  /** Announces a user who is to be created as an admin, then acts with the appointment for their event. */
  async appointing<T>(userId: string, meta: CommandMeta, act: (appointed: Appointed) => Promise<T>): Promise<T> {
    return this.acting(userId, { appointment: await this.decide({ type: 'Appoint', userId }, meta) }, meta, act);
  }

  /**
   * Acts with what a command that gives a user another role or status needs of the register: an appointment where it makes an active
   * admin or ends one, else nothing. Rejects with `conflict` (`last_admin`) where no admin would remain, and with
   * `precondition_failed` before anything is announced. What was announced for an act that is rejected is taken back.
   */
  async announcing<T>(
    userId: string,
    next: NextRole,
    meta: CommandMeta,
    act: (appointed: Appointed) => Promise<T>,
  ): Promise<T> {
    return this.acting(userId, await this.announced(userId, next, meta), meta, act);
  }

  private async announced(userId: string, next: NextRole, meta: CommandMeta): Promise<Appointed> {
    const { state: user, revision } = await this.decisions.load(userDecider, userId);
    if (!isLiving(user)) return {};
    const remains = (next.status ?? user.status) === 'active' && (next.role ?? user.role) === 'admin';
    if (!remains && !isActiveAdmin(user)) return {};
    if (meta.ifRevision !== undefined && meta.ifRevision !== revision)
      return reject('precondition_failed', { expected: meta.ifRevision, actual: revision });
    return {
      appointment: remains ? await this.decide({ type: 'Appoint', userId }, meta) : await this.dismiss(userId, meta),
    };
  }

  private async acting<T>(
    userId: string,
    appointed: Appointed,
    meta: CommandMeta,
    act: (appointed: Appointed) => Promise<T>,
  ): Promise<T> {
    try {
      return await act(appointed);
    } catch (error) {
      // Where it is not known whether it happened the word stands, and the grace decides.
      if (isDomainError(error) && appointed.appointment !== undefined)
        await unlessLeft(() => this.takeBack(userId, appointed.appointment, meta));
      throw error;
    }
  }

  /** Says again what the user's own stream says, where the last word about them is this one. */
  private async takeBack(userId: string, appointment: number | undefined, meta: CommandMeta): Promise<void> {
    const { state } = await this.decisions.load(adminsDecider, INSTANCE);
    const last = state.get(userId);
    if (last?.revision !== appointment) return;
    const { state: user } = await this.decisions.load(userDecider, userId);
    if (isActiveAdmin(user)) await this.reinstate(userId, meta);
    else if (last?.serving === true)
      await this.decide({ type: 'Dismiss', userId, present: await this.present() }, meta);
  }

  private async dismiss(userId: string, meta: CommandMeta): Promise<number> {
    const decide = async (): Promise<number> =>
      this.decide({ type: 'Dismiss', userId, present: await this.present() }, meta);
    try {
      return await decide();
    } catch (error) {
      if (!isDomainError(error, 'conflict') || !(await this.reinstateOthers(userId, meta))) throw error;
      return decide();
    }
  }

  /** Reinstates admins who never heard the last word about them, as its command died or was rejected. False where there are none. */
  private async reinstateOthers(userId: string, meta: CommandMeta): Promise<boolean> {
    const { state } = await this.decisions.load(adminsDecider, INSTANCE);
    let isAny = false;
    for (const [other, { revision, since }] of state) {
      if (other === userId || meta.now.getTime() - Date.parse(since) < ANNOUNCED_GRACE_MS) continue;
      const { state: user } = await this.decisions.load(userDecider, other);
      if (!isActiveAdmin(user) || user.appointment >= revision) continue;
      await this.reinstate(other, meta);
      isAny = true;
    }
    return isAny;
  }

  /** Appoints an active admin anew, and tells their stream: what was to end that is rejected there from now on. */
  private async reinstate(userId: string, meta: CommandMeta): Promise<void> {
    const appointment = await this.decide({ type: 'Appoint', userId }, meta);
    await this.decisions.transact(
      userDecider,
      userId,
      { type: 'Update', fields: {}, role: 'admin', appointment },
      stepOf(meta, `reinstate/${userId}/${appointment}`),
    );
  }

  /** A repeat of a command whose word was taken back says it anew: its step is named by the word that it follows. */
  private async decide(command: AdminsCommand, meta: CommandMeta): Promise<number> {
    const last = (await this.decisions.load(adminsDecider, INSTANCE)).state.get(command.userId);
    const receipt = await this.decisions.transact(
      adminsDecider,
      INSTANCE,
      command,
      stepOf(meta, `${command.type}/${command.userId}/${last?.revision ?? -1}`),
    );
    if (receipt.eventIds.length > 0) return receipt.revision;
    const appointment = (await this.decisions.load(adminsDecider, INSTANCE)).state.get(command.userId);
    return appointment?.serving === (command.type === 'Appoint')
      ? appointment.revision
      : reject('conflict', { reason: 'concurrent_changes' });
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

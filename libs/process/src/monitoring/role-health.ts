import type { Processes } from '@app/coordination';
import type { Dependencies } from './health';

/** What other processes do for this one: without a living one its work waits, and little else tells. Nothing where this process does all. */
export const roleHealth = (processes: Pick<Processes, 'alone' | 'status'>): Dependencies =>
  processes.alone ? {} : { projector: livingOf(processes, 'projector'), worker: livingOf(processes, 'worker') };

const livingOf =
  (processes: Pick<Processes, 'status'>, role: string): Dependencies[string] =>
  async () =>
    (await processes.status()).some(({ alive, roles }) => alive && roles.includes(role))
      ? { ok: true }
      : { ok: false, reason: 'no running process has this role' };

import { finishErasures } from '@app/hosting';
import { led, type LeaseShare } from '@app/projecting';
import type { Host } from '../../api/src/host';
import type { Role } from '../../api/src/role';

/** Keeps the views up with the log, reacts to events, seals the log: what other projectors do not do already. */
export const projectorRole = (host: Host): Role => {
  const { projecting, policies, sealer, leases } = host;
  let shares: readonly LeaseShare[] = [];
  return {
    start: async () => {
      await projecting.start();
      await policies.start();
      await finishErasures(host);
      shares = await leases.join([led('sealer', 1, sealer)]);
    },
    stop: async () => {
      await policies.stop();
      await projecting.stop();
      await leases.leave(shares);
    },
  };
};

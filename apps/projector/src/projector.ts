import { finishErasures } from '@app/hosting';
import { type LeaseShare, led } from '@app/coordination';
import type { Host } from '../../api/src/host';
import type { Role } from '../../api/src/role';

/** Keeps the views up with the log, reacts to events, seals the log, counts what others write to its server: what other projectors do not do already. */
export const projectorRole = (host: Host): Role => {
  const { projecting, policies, sealer, leases, foreignAccount } = host;
  let shares: readonly LeaseShare[] = [];
  return {
    start: async () => {
      await projecting.start();
      await policies.start();
      await finishErasures(host);
      shares = await leases.join([
        led('sealer', 1, sealer),
        ...(foreignAccount === undefined ? [] : [led('foreign-events', 2, foreignAccount)]),
      ]);
    },
    stop: async () => {
      await policies.stop();
      await projecting.stop();
      await leases.leave(shares);
    },
  };
};

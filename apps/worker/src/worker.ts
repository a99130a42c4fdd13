import type { Host } from '../../api/src/host';
import type { Role } from '../../api/src/role';

/** Ingests documents, and removes bodies that were stored for none. */
export const workerRole = ({ knowledge: { worker, blobSweep } }: Host): Role => ({
  start: async () => {
    worker.start();
    blobSweep.start();
  },
  stop: () => {
    blobSweep.stop();
    return worker.stop();
  },
});

import type { Host } from '../../api/src/host';
import type { Role } from '../../api/src/role';

/** Ingests documents, removes bodies that were stored for none, and finishes what requests left unfinished. */
export const workerRole = ({ knowledge: { worker, blobSweep }, unfinished }: Host): Role => ({
  start: async () => {
    worker.start();
    blobSweep.start();
    unfinished.start();
  },
  stop: async () => {
    blobSweep.stop();
    await unfinished.stop();
    await worker.stop();
  },
});

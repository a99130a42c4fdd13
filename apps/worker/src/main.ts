import { runProcess } from '../../api/src/run-process';

/** A process of workers alone, unless `ROLES` says otherwise. */
runProcess({ ROLES: 'worker' });

import { runProcess } from '../../api/src/run-process';

/** A process of projectors alone, unless `ROLES` says otherwise. */
runProcess({ ROLES: 'projector' });

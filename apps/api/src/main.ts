import { runProcess } from '@app/process';
import { api } from './program';

/** Starts the platform: all of it in one process, unless `ROLES` says otherwise. */
runProcess(api);

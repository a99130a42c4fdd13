import { runProcess } from './run-process';

/** Starts the platform: all of it in one process, unless `ROLES` says otherwise. */
runProcess();

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** A server that a script of this folder installs, starts and stops. */
export type ServerName = 'mongodb' | 'elasticsearch' | 's3' | 'kafka';

export const serverScript = (name: ServerName): string => join(__dirname, `${name}.sh`);

/** Whether the script has installed its server on this machine. */
export const isServerInstalled = (name: ServerName): boolean =>
  spawnSync(serverScript(name), ['installed']).status === 0;

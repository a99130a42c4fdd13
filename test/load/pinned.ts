import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Keeps a process with all its threads, and those it starts from now on, to one processor, so that a server and what asks
 * it do not take turns on the same one. False where the system cannot: not Linux, or one processor only.
 */
export const pinned = (pid: number, processor: number): boolean =>
  availableParallelism() > processor &&
  spawnSync('taskset', ['-a', '-p', '-c', String(processor), String(pid)], { stdio: 'ignore' }).status === 0;

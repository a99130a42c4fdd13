import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { Unavailable } from '@app/kernel';

/** `spawn` of Node. */
export type Spawn = (command: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

/** A process with all of its streams. */
export type StartedProcess = ChildProcess & {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
};

export interface StartOptions {
  readonly start?: Spawn;
  readonly priority?: number;
}

/**
 * Starts Node with an empty environment. Rejects with `Unavailable` where it cannot be started: without memory Node throws, without file
 * descriptors it gives a process that has no streams, and its error ends this process where nobody hears it. `priority`: as of
 * `os.setPriority`; that of this process without.
 */
export const startProcess = async (
  args: readonly string[],
  { start = spawn, priority }: StartOptions = {},
): Promise<StartedProcess> => {
  try {
    const child = start(process.execPath, args, { env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
    if (child.pid === undefined) await once(child, 'exit');
    // Before it has a thread more than its first: later ones have the priority of the one that starts them.
    else if (priority !== undefined) setPriority(child.pid, priority);
    return child as StartedProcess;
  } catch (error) {
    throw new Unavailable('parser', 'its process could not be started', 'none', { cause: error });
  }
};

import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');
const loader = ['--require', join(root, 'test', 'register.cjs')];

/** A server of ours in a process of its own. */
export interface Child {
  readonly pid: number;
  /** Where it listens. */
  readonly url: string;
  /** What it has printed so far, on both channels. */
  output(): string;
  /** The exit code, once all that it printed is read; null where a signal ended it. */
  readonly exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
  /** Asks it to stop and waits for its end. */
  stop(): Promise<void>;
}

/** Starts a script and waits until it prints where it listens; rejects with its output when it ends before. `openFiles`: the most files and connections that it may have open. */
export const startChild = async (
  script: string,
  environment: Readonly<Record<string, string>>,
  { openFiles = 'unlimited' }: { openFiles?: number | 'unlimited' } = {},
): Promise<Child> => {
  const command = [process.execPath, ...loader, join(root, script)];
  const [program = '', ...given] =
    openFiles === 'unlimited' ? command : ['/bin/sh', '-c', `ulimit -n ${openFiles} && exec "$0" "$@"`, ...command];
  const child = spawn(program, given, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  // Behind `exit` there may be more of what it printed.
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    void exited.then((code) => reject(new Error(`${script} ended with ${String(code)}: ${printed}`)));
    child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      // A piece may end within a port.
      const found = /http:\/\/[\d.:]+(?=[^\d.:])/.exec(printed);
      if (found !== null) resolve(found[0]);
    });
  });
  // One that a test which failed has left does not keep the run from its end, and ends with it.
  const leave = (): boolean => child.kill('SIGKILL');
  process.once('exit', leave);
  void exited.then(() => process.removeListener('exit', leave));
  const handles = [child, child.stdout as Socket, child.stderr as Socket];
  for (const handle of handles) handle.unref();
  const kill = (signal: NodeJS.Signals): void => {
    for (const handle of handles) handle.ref();
    child.kill(signal);
  };
  const stop = async (): Promise<void> => {
    kill('SIGTERM');
    await exited;
  };
  return { pid: child.pid ?? 0, url, output: () => printed, exited, kill, stop };
};

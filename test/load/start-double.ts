import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The double of EventStoreDB in a process of its own, which shows at once what is written. */
export const startDouble = async (): Promise<{ readonly url: string; readonly child: ChildProcess }> => {
  const child = fork(join(__dirname, '..', 'servers', 'eventstoredb', 'main.ts'), ['--port', '0', '--lag', 'none'], {
    execArgv: process.execArgv,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { url: line.toString().trim(), child };
};

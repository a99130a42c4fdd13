import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(__dirname, '..', '..', '..');

/** Starts the projector in a process of its own; resolves once it has said a word. */
export const startChild = (folder: string, word: string, ...args: readonly string[]): Promise<ChildProcess> =>
  startProgram('projecting-child.ts', word, folder, ...args);

/** Starts a program of this folder; resolves once it has said a word. */
export const startProgram = async (
  program: string,
  word: string,
  ...args: readonly string[]
): Promise<ChildProcess> => {
  const child = spawn(
    process.execPath,
    ['--require', join(root, 'test/register.cjs'), join(__dirname, program), ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (data: Buffer) => {
      said += data.toString();
      if (said.includes(`${word}\n`)) resolve();
    });
    child.once('exit', (code) =>
      reject(new Error(`the child ended with ${code} after saying ${JSON.stringify(said)}`)),
    );
  });
  return child;
};

export const kill = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};

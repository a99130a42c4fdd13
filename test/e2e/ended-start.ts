import { runProcess } from '@app/process';
import { api } from '../../apps/api/src/program';

/**
 * Starts the product in this process as `apps/api/src/main.ts` does, where something is wrong, and answers with which code it would
 * end and what it says then. For what fails before it listens: of that it leaves nothing open.
 */
export const endOfStart = async (
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: unknown; readonly said: string }> => {
  const before = process.env;
  const listeners = process.listeners('unhandledRejection');
  const { promise: code, resolve: end } = Promise.withResolvers<unknown>();
  let said = '';
  const write = (text: string | Uint8Array): boolean => {
    said += Buffer.from(text).toString();
    return true;
  };
  const spies = [
    jest.spyOn(process.stdout, 'write').mockImplementation(write),
    jest.spyOn(process.stderr, 'write').mockImplementation(write),
    jest.spyOn(process, 'exit').mockImplementation(((given: unknown) => end(given)) as typeof process.exit),
  ];
  process.env = { ...before, ...environment };
  try {
    runProcess(api);
    return { code: await code, said };
  } finally {
    process.env = before;
    for (const spy of spies) spy.mockRestore();
    for (const listener of process.listeners('unhandledRejection'))
      if (!listeners.includes(listener)) process.removeListener('unhandledRejection', listener);
  }
};

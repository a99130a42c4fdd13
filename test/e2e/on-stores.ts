import { operate } from '../../apps/operator/src/program';

/** Runs the command line on stores that the environment names, with no server or key given, and answers what it printed. */
export const operatorOn = async (
  environment: Readonly<Record<string, string | undefined>>,
  ...words: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> => {
  const printed = { out: '', err: '' };
  const before = process.env;
  process.env = { ...before, PLATFORM_URL: '', PLATFORM_API_KEY: '', ...environment };
  try {
    const code = await operate(words, {
      stdout: { write: (text) => (printed.out += text) },
      stderr: { write: (text) => (printed.err += text) },
    });
    return { code, ...printed };
  } finally {
    process.env = before;
  }
};

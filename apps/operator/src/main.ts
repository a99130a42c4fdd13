import { CommanderError } from 'commander';
import { EXIT, type ExitCode, Failure } from './exit-codes';
import { createProgram } from './program';

const exitCodeOf = (error: unknown): ExitCode => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
  if (error instanceof Failure) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return error instanceof Failure ? error.exitCode : EXIT.failed;
};

createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    process.exitCode = exitCodeOf(error);
  });

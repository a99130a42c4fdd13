import { demandRuntime, UnfitRuntime } from '@app/kernel';
import { Command, CommanderError } from 'commander';
import { EXIT, type ExitCode, Failure } from './exit-codes';
import type { Streams } from './output';
import { addGlobalOptions, runner } from './session';
import { addAdminKeyVerb } from './verbs/admin-key';
import { addBackupVerbs } from './verbs/backup';
import { addDeadLetterVerbs } from './verbs/dead-letters';
import { addEventVerbs } from './verbs/events';
import { addObjectVerbs } from './verbs/objects';
import { addRebuildVerbs } from './verbs/rebuild';
import { addRestateVerbs } from './verbs/restate';
import { addStatusVerbs } from './verbs/status';
import { addSweepVerb } from './verbs/sweep';
import { addTransferVerbs } from './verbs/transfer';
import { addVerifyVerb } from './verbs/verify';
import { addVersionVerbs } from './verbs/versions';
import { addWhatIfVerb } from './verbs/what-if';

const VERBS = [addStatusVerbs, addRebuildVerbs, addVersionVerbs, addDeadLetterVerbs, addEventVerbs, addObjectVerbs, addVerifyVerb, addBackupVerbs, addTransferVerbs, addSweepVerb, addAdminKeyVerb, addRestateVerbs, addWhatIfVerb];

/** Runs the command line of operators and auditors. `words` are the arguments behind the program's name. */
export const operate = async (words: readonly string[], streams: Streams): Promise<ExitCode> => {
  let code: ExitCode = EXIT.done;
  const run = runner(streams, (ended) => (code = ended));
  // Options and behaviour that subcommands inherit come before them.
  const program = addGlobalOptions(new Command('operator'))
    .description('Operates and audits a running platform, or its stores.')
    .configureOutput({ writeOut: (text) => streams.stdout.write(text), writeErr: (text) => streams.stderr.write(text) })
    .exitOverride()
    .showHelpAfterError('(say --help for the usage)');
  for (const add of VERBS) add(program, run);
  try {
    demandRuntime();
    await program.parseAsync(words, { from: 'user' });
    return code;
  } catch (error) {
    return failed(error, streams);
  }
};

const failed = (error: unknown, { stderr }: Streams): ExitCode => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
  if (error instanceof Failure) {
    stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof UnfitRuntime) stderr.write(`${error.message}\n`);
  else stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return EXIT.failed;
};

import { assertRuntime, productVersion, sentenceIn } from '@app/kernel';
import { Command, CommanderError } from 'commander';
import { EXIT, type ExitCode, Failure } from './exit-codes';
import { exitCodesHelp, kindsHelp, viewsHelp } from './names-help';
import { type Streams, visible } from './output';
import { Rejected } from './platform-client';
import { addGlobalOptions, runner } from './session';
import { addAdminKeyVerb } from './verbs/admin-key';
import { addBackupVerbs } from './verbs/backup';
import { addDeadLetterVerbs } from './verbs/dead-letters';
import { addEventVerbs } from './verbs/events';
import { addObjectVerbs } from './verbs/objects';
import { addRebuildVerbs } from './verbs/rebuild';
import { addRestateVerbs } from './verbs/restate';
import { addScreenVerb } from './verbs/screen';
import { addStatusVerbs } from './verbs/status';
import { addSweepVerb } from './verbs/sweep';
import { addSyncVerb } from './verbs/sync';
import { addTransferVerbs } from './verbs/transfer';
import { addVerifyVerb } from './verbs/verify';
import { addVersionVerbs } from './verbs/versions';
import { addWhatIfVerb } from './verbs/what-if';

const VERBS = [
  addStatusVerbs,
  addRebuildVerbs,
  addVersionVerbs,
  addDeadLetterVerbs,
  addEventVerbs,
  addObjectVerbs,
  addVerifyVerb,
  addBackupVerbs,
  addTransferVerbs,
  addSweepVerb,
  addSyncVerb,
  addAdminKeyVerb,
  addRestateVerbs,
  addWhatIfVerb,
  addScreenVerb,
];

/** Runs the command line of operators and auditors. `words` are the arguments after the program's name. */
export const operate = async (words: readonly string[], streams: Streams): Promise<ExitCode> => {
  let code: ExitCode = EXIT.done;
  const run = runner(streams, (ended) => (code = ended));
  const json = words.includes('--json');
  // Options and behaviour that subcommands inherit come before them.
  const program = addGlobalOptions(new Command('operator'))
    .description('Operates and audits a running platform, or its stores.')
    .version(productVersion)
    .configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: (text) => (json ? undefined : streams.stderr.write(text)),
    })
    .exitOverride()
    .showHelpAfterError('(run with --help for usage)')
    .addHelpText('after', () => [exitCodesHelp, kindsHelp(), viewsHelp()].join('\n'));
  for (const add of VERBS) add(program, run);
  try {
    assertRuntime();
    await program.parseAsync(words, { from: 'user' });
    return code;
  } catch (error) {
    return failed(error, streams, json);
  }
};

/** Prints what went wrong as a sentence, or with `--json` as a document. Only unexpected errors have a stack. */
const failed = (error: unknown, { stderr }: Streams, json: boolean): ExitCode => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.done;
    if (json) stderr.write(errorJson('wrong_usage', error.message.replace(/^error: /, '')));
    return EXIT.wrongUsage;
  }
  const sentence = error instanceof Failure ? error.message : sentenceIn(error);
  const message = sentence ?? (error instanceof Error ? error.message : String(error));
  if (json) stderr.write(errorJson(error instanceof Rejected ? error.code : codeOf(error), message));
  else stderr.write(`${shown(sentence ?? (error instanceof Error ? (error.stack ?? message) : message))}\n`);
  return error instanceof Failure ? error.exitCode : EXIT.failed;
};

const codeOf = (error: unknown): string => {
  if (!(error instanceof Failure)) return 'failed';
  return (
    ({ [EXIT.wrongUsage]: 'wrong_usage', [EXIT.foundWrong]: 'found_wrong' } as Readonly<Record<number, string>>)[
      error.exitCode
    ] ?? 'failed'
  );
};

/** Some failures have several lines. */
const shown = (text: string): string => text.split('\n').map(visible).join('\n');

const errorJson = (code: string, message: string): string =>
  `${visible(JSON.stringify({ error: { code, message } }))}\n`;

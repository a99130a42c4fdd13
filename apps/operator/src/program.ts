import { Command } from 'commander';
import { addGlobalOptions } from './session';
import { addBackupVerbs } from './verbs/backup';
import { addDeadLetterVerbs } from './verbs/dead-letters';
import { addEventVerbs } from './verbs/events';
import { addObjectVerbs } from './verbs/objects';
import { addRebuildVerbs } from './verbs/rebuild';
import { addStatusVerbs } from './verbs/status';
import { addTransferVerbs } from './verbs/transfer';
import { addVerifyVerb } from './verbs/verify';
import { addVersionVerbs } from './verbs/versions';

/** The command line of operators and auditors: every verb, none of them run yet. */
export const createProgram = (): Command => {
  const program = addGlobalOptions(new Command('operator'))
    .description('Operates and audits a running platform, or its stores.')
    .exitOverride()
    .showHelpAfterError('(say --help for the usage)');
  for (const add of [addStatusVerbs, addRebuildVerbs, addVersionVerbs, addDeadLetterVerbs, addEventVerbs, addObjectVerbs, addVerifyVerb, addBackupVerbs, addTransferVerbs]) add(program);
  return program;
};

import type { Command } from 'commander';
import type { Run } from '../session';
import type { AdminKeyOptions } from '../stores/create-admin-key';

/** The stores' drivers are loaded when they are needed: most verbs only talk to a server. */
const stores = () => require('../stores/create-admin-key') as typeof import('../stores/create-admin-key');

export const addAdminKeyVerb = (program: Command, run: Run): void => {
  program
    .command('create-admin-key')
    .description(
      'make an API key of an admin in the stores themselves, where none is left that can; recorded in the log',
    )
    .requiredOption('--reason <text>', 'why, for the log')
    .option('--by <name>', 'who you are, for the log (default: your user on this machine)')
    .option('--user <id>', 'the admin whose key it is to be (default: the one who has been an admin longest)')
    .action(run<[AdminKeyOptions]>((...given) => stores().createAdminKey(...given)));
};

import type { Command } from 'commander';
import type { Run } from '../session';
import type { AdminKeyOptions } from '../stores/create-admin-key';

/** Loads the stores' drivers on demand: most commands only talk to a server. */
const stores = () => require('../stores/create-admin-key') as typeof import('../stores/create-admin-key');

export const addAdminKeyVerb = (program: Command, run: Run): void => {
  program
    .command('create-admin-key')
    .description('create an admin API key directly in the stores, if none is left; recorded in the log')
    .requiredOption('--reason <text>', 'why, for the log (required)')
    .option('--by <name>', 'your name, for the log (default: your user on this machine)')
    .option('--user <id>', 'the admin who gets the key (default: the longest-serving admin)')
    .action(run<[AdminKeyOptions]>((...given) => stores().createAdminKey(...given)));
};

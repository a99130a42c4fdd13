import type { Command } from 'commander';
import type { Run } from '../session';

/** The stores' drivers are loaded when they are needed: most verbs only talk to a server. */
const stores = () => require('../stores/transfer') as typeof import('../stores/transfer');

export const addTransferVerbs = (program: Command, run: Run): void => {
  program.command('export <file>').description('write the whole log to a file that verify proves alone; gzipped where the name ends in .gz').action(run<[string]>((...given) => stores().makeExport(...given)));
  program
    .command('import <file>')
    .description('bring an export into an empty log in DATA_DIR')
    .option('--public-key <key>', 'the key that must have signed; default: the one in the file')
    .action(run<[string, { readonly publicKey?: string }]>((...given) => stores().runImport(...given)));
};

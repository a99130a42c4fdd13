import type { Command } from 'commander';
import type { Run } from '../session';
import type { Apart } from '../stores/transfer';
import { publicKey } from './verify';

/** The stores' drivers are loaded when they are needed: most verbs only talk to a server. */
const stores = () => require('../stores/transfer') as typeof import('../stores/transfer');

export const addTransferVerbs = (program: Command, run: Run): void => {
  program
    .command('export <file>')
    .description('write the whole log to a file that verify proves alone; gzipped where the name ends in .gz')
    .option('--keys <file>', 'write the data keys, wrapped under VAULT_KEY, to a file apart')
    .option('--blobs <folder>', 'copy the encrypted files to a folder apart')
    .action(run<[string, Apart]>((...given) => stores().makeExport(...given)));
  program
    .command('import <file>')
    .description('bring an export into an empty log; again, after an interruption')
    .option('--public-key <key>', 'the key that must have signed; default: the one in the file', publicKey)
    .option('--keys <file>', 'bring in the data keys that were exported with it')
    .option('--blobs <folder>', 'bring in the files that were exported with it')
    .action(run<[string, Apart & { readonly publicKey?: string }]>((...given) => stores().runImport(...given)));
};

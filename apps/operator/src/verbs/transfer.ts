import type { Command } from 'commander';
import type { Run } from '../session';
import type { Apart } from '../stores/transfer';
import { publicKey } from './verify';

/** Loads the stores' drivers on demand: most commands only talk to a server. */
const stores = () => require('../stores/transfer') as typeof import('../stores/transfer');

export const addTransferVerbs = (program: Command, run: Run): void => {
  program
    .command('export <file>')
    .description('export the whole log to a file that verify can prove by itself; gzipped if the name ends in .gz')
    .option('--keys <file>', 'also export the data keys, encrypted with VAULT_KEY, to a separate file')
    .option('--blobs <folder>', 'also copy the encrypted files to a separate folder')
    .option('--force', 'replace the file of --keys if it exists')
    .action(run<[string, Apart & { readonly force?: true }]>((...given) => stores().makeExport(...given)));
  program
    .command('import <file>')
    .description('import an export into an empty log; repeat it after an interruption')
    .option('--public-key <key>', 'the key that must have signed (default: the one in the file)', publicKey)
    .option('--keys <file>', 'import the data keys that were exported with it')
    .option('--blobs <folder>', 'import the files that were exported with it')
    .action(run<[string, Apart & { readonly publicKey?: string }]>((...given) => stores().runImport(...given)));
};

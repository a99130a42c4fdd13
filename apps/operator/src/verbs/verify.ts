import type { Command } from 'commander';
import type { Run } from '../session';

/** What computes hashes and opens stores is loaded when it is needed. */
const stores = () => require('../stores/verify') as typeof import('../stores/verify');

export const addVerifyVerb = (program: Command, run: Run): void => {
  program
    .command('verify [file]')
    .description('prove that the log is as it was sealed: of a server (with --url), of the stores in DATA_DIR, or of an export file')
    .option('--since <seal>', 'a seal noted earlier: finds a tail that was cut off since')
    .option('--public-key <key>', 'the key to trust, base64url; default: the one that the server, the stores or the file name')
    .action(run<[string | undefined, { readonly since?: string; readonly publicKey?: string }]>((...given) => stores().verify(...given)));
};

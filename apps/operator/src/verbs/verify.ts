import { type Command, InvalidArgumentError } from 'commander';
import type { Run } from '../session';
import type { VerifyOptions } from '../stores/verify';

/** Loads what computes hashes and opens stores on demand. */
const stores = () => require('../stores/verify') as typeof import('../stores/verify');

export const addVerifyVerb = (program: Command, run: Run): void => {
  program
    .command('verify [file]')
    .description(
      'verify that the log is as it was sealed; reads the first of: the export file or the folder of a backup, the server of --url, the stores of DATA_DIR or EVENTSTORE_URL, the server of PLATFORM_URL, the stores in ./data',
    )
    .option('--since <seal>', 'a seal that you noted earlier; finds a tail that was cut off since')
    .option(
      '--public-key <key>',
      'the public key to trust, base64url (default: the one that the source itself names)',
      publicKey,
    )
    .option('--keys <file>', 'with the folder of a backup: also check the data keys that were backed up apart')
    .action(run<[string | undefined, VerifyOptions]>((...given) => stores().verify(...given)));
};

/** 32 bytes in base64url. */
export const publicKey = (text: string): string => {
  if (!/^[\w-]{43}=?$/.test(text))
    throw new InvalidArgumentError(
      'must be the public key of the seals: 43 characters of base64url, as the export printed it.',
    );
  return text;
};

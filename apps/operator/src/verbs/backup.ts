import type { Command } from 'commander';
import type { Run } from '../session';

/** The stores' drivers are loaded when they are needed: most verbs only talk to a server. */
const stores = () => require('../stores/backup') as typeof import('../stores/backup');

export const addBackupVerbs = (program: Command, run: Run): void => {
  program
    .command('backup <folder>')
    .description('copy the log and the blobs of DATA_DIR, also while a server runs on it')
    .option('--keys <file>', 'back up the data keys too, into a file that is kept apart')
    .action(run<[string, { readonly keys?: string }]>((...given) => stores().makeBackup(...given)));
  program
    .command('restore <folder>')
    .description('bring a backup into an empty DATA_DIR; VAULT_KEY must be the one of the backup')
    .requiredOption('--keys <file>', 'the data keys that were backed up apart')
    .action(run<[string, { readonly keys: string }]>((...given) => stores().restoreBackup(...given)));
  program
    .command('rotate-vault-key')
    .description('wrap the data keys of DATA_DIR under a new VAULT_KEY; API keys and content stay as they are')
    .action(
      run<[]>((...given) =>
        (require('../stores/rotate-vault-key') as typeof import('../stores/rotate-vault-key')).rotate(...given),
      ),
    );
};

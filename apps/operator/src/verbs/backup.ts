import type { Command } from 'commander';
import type { Run } from '../session';

/** Loads the stores' drivers on demand: most commands only talk to a server. */
const stores = () => require('../stores/backup') as typeof import('../stores/backup');

export const addBackupVerbs = (program: Command, run: Run): void => {
  program
    .command('backup <folder>')
    .description('copy the log and files of DATA_DIR, even while a server runs on it')
    .option('--keys <file>', 'also back up the data keys, to a file that you keep apart')
    .action(run<[string, { readonly keys?: string }]>((...given) => stores().makeBackup(...given)));
  program
    .command('restore <folder>')
    .description(
      'check a backup and restore it into an empty DATA_DIR; needs the VAULT_KEY of the backup (verify <folder> only checks it)',
    )
    .requiredOption('--keys <file>', 'the data keys that were backed up apart (required)')
    .option('--force', 'restore what is left of a backup that was changed or damaged; ends with exit code 3')
    .action(
      run<[string, { readonly keys: string; readonly force?: true }]>((...given) => stores().restoreBackup(...given)),
    );
  program
    .command('rotate-vault-key')
    .description('encrypt the data keys of DATA_DIR with a new VAULT_KEY; API keys and content do not change')
    .action(
      run<[]>((...given) =>
        (require('../stores/rotate-vault-key') as typeof import('../stores/rotate-vault-key')).rotate(...given),
      ),
    );
};

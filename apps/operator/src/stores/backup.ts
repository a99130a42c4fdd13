import { backup, BackupChanged, type BackupCheck, restore, type Restored } from '@app/backup';
import { type Config, systemClock } from '@app/kernel';
import { backupLines } from '../backup-check';
import { EXIT, Failure } from '../exit-codes';
import { counted, type Output } from '../output';
import { progressBar } from '../progress-bar';
import type { Verb } from '../session';
import { assertDataFolder, findInstanceKey, makeFolderOf, orFailure, storesConfig } from './config';

// Copies the files of stores, beside a running product too, so no module may open them here.

export const makeBackup: Verb<[folder: string, { readonly keys?: string }]> = async (
  { output },
  folder,
  { keys: keysFile },
) => {
  const config = storesConfig();
  const { DATA_DIR: dataFolder } = config;
  assertEmbedded(config, keysFile !== undefined);
  noteFiles(config, output);
  if (keysFile !== undefined) await makeFolderOf(keysFile);
  const manifest = await orFailure(
    backup({ dataFolder, folder, keysFile, clock: systemClock, onProgress: showing(output) }),
  );
  output.progressDone();
  output.result({ folder, keys: keysFile ?? null, ...manifest }, ({ at, lastSeal, blobs }) => [
    `Backed up to ${folder} at ${at}: the log up to seal ${lastSeal ?? '(none)'}, blobs: ${blobs}.`,
    keysFile === undefined
      ? 'The data keys are NOT in it. Without them the content cannot be read. Back them up with --keys FILE.'
      : `The data keys are in ${keysFile}, encrypted with VAULT_KEY. Keep all three in different places.`,
  ]);
};

export const restoreBackup: Verb<[folder: string, { readonly keys: string; readonly force?: true }]> = async (
  { output },
  folder,
  { keys: keysFile, force = false },
) => {
  const config = storesConfig();
  assertEmbedded(config, true);
  noteFiles(config, output);
  await assertDataFolder(config);
  const vaultKey = findInstanceKey(config, 'VAULT_KEY');
  if (vaultKey === undefined)
    throw new Failure('VAULT_KEY is missing. Set it to the one that the backup was made under.');
  const { DATA_DIR: dataFolder } = config;
  const restored = await orFindings(
    restore({ folder, keysFile, vaultKey, dataFolder, force, onProgress: showing(output) }),
  );
  output.progressDone();
  const check = 'changed' in restored ? restored.changed : restored.check;
  const { manifest, ...found } = check;
  const erased = 'changed' in restored ? undefined : restored.erased;
  output.result({ dataFolder, restored: erased !== undefined, erased, ...manifest, ...found }, () =>
    erased === undefined
      ? [
          'Nothing was restored.',
          ...backupLines(check),
          'Restore another backup, or what is left of this one with --force.',
        ]
      : [
          `Restored the backup of ${manifest.at} into ${dataFolder}, up to seal ${manifest.lastSeal ?? '(none)'}.`,
          ...backupLines(check),
          ...(erased > 0 ? [`Erased after the backup, so erased here too: ${counted(erased, 'aggregate')}.`] : []),
          'The views are rebuilt from the log at the next start.',
        ],
  );
  return check.findingsInAll === 0 ? EXIT.done : EXIT.foundWrong;
};

/** What is copied is in `DATA_DIR`: nothing there would be of a store that is on a server, or come to it. */
const assertEmbedded = ({ EVENTSTORE_URL, MONGODB_URL }: Config, withKeys: boolean): void => {
  const is = (what: string, variable: string): string =>
    `${what} of ${variable}, and this command copies DATA_DIR. Back up that server with its own tools, or use operator export and import.`;
  if (EVENTSTORE_URL !== undefined) throw new Failure(is('The log is on the server', 'EVENTSTORE_URL'));
  if (withKeys && MONGODB_URL !== undefined) throw new Failure(is('The data keys are on the server', 'MONGODB_URL'));
};

const noteFiles = ({ S3_URL }: Config, { note }: Output): void => {
  if (S3_URL !== undefined) note('Note: the files are on the server of S3_URL. They are not copied.');
};

/** What was changed is an answer, not a failure. */
const orFindings = (work: Promise<Restored>): Promise<Restored | { readonly changed: BackupCheck }> =>
  orFailure(
    work.catch((error: unknown) => {
      if (error instanceof BackupChanged) return { changed: error.check };
      throw error;
    }),
  );

const showing =
  ({ progress }: Output) =>
  (step: string, done: { readonly done: number; readonly total: number }): void =>
    progress(progressBar(step.padEnd(5), done));

import { backup, restore } from '@app/backup';
import { systemClock } from '@app/kernel';
import { Failure } from '../exit-codes';
import type { Output } from '../output';
import { progressBar } from '../progress-bar';
import type { Verb } from '../session';
import { assertDataFolder, findInstanceKey, makeFolderOf, orFailure, storesConfig } from './config';

// Copies the files of stores, beside a running product too, so no module may open them here.

export const makeBackup: Verb<[folder: string, { readonly keys?: string }]> = async (
  { output },
  folder,
  { keys: keysFile },
) => {
  const { DATA_DIR: dataFolder } = storesConfig();
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

export const restoreBackup: Verb<[folder: string, { readonly keys: string }]> = async (
  { output },
  folder,
  { keys: keysFile },
) => {
  const config = storesConfig();
  await assertDataFolder(config);
  const vaultKey = findInstanceKey(config, 'VAULT_KEY');
  if (vaultKey === undefined)
    throw new Failure('VAULT_KEY is missing. Set it to the one that the backup was made under.');
  const { manifest, erased } = await orFailure(
    restore({
      folder,
      keysFile,
      vaultKey,
      dataFolder: config.DATA_DIR,
      onProgress: showing(output),
    }),
  );
  output.progressDone();
  output.result({ dataFolder: config.DATA_DIR, erased, ...manifest }, ({ at, lastSeal }) => [
    `Restored the backup of ${at} into ${config.DATA_DIR}, up to seal ${lastSeal ?? '(none)'}.`,
    ...(erased > 0 ? [`Erased after the backup, so erased here too: ${erased} aggregates.`] : []),
    'The views are rebuilt from the log at the next start.',
  ]);
};

const showing =
  ({ progress }: Output) =>
  (step: string, done: { readonly done: number; readonly total: number }): void =>
    progress(progressBar(step.padEnd(5), done));

import { existsSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type CarriedBlobs, carryBlobs, checkKeys, exportKeys, importKeys } from '@app/backup';
import { type Blobs, openBlobs, openFileBlobs } from '@app/blobs';
import { type EventLog, eventMacOf, IMPORTED_FILE, type ImportMark } from '@app/event-log';
import { eventCatalogue, openLog, openLogReader } from '@app/hosting';
import {
  type Config,
  EventCodec,
  type Keyring,
  mayShare,
  retry,
  syncToDisk,
  systemClock,
  unfinishedBeside,
} from '@app/kernel';
import { exportLog, prepareImport, sealKeyOf, verifyExport } from '@app/sealing';
import { openVault, type Vault } from '@app/vault';
import { EXIT, Failure } from '../exit-codes';
import { count, counted, type Output } from '../output';
import { progressBar } from '../progress-bar';
import type { Verb } from '../session';
import { exitCodeOf, shown, verificationLines } from '../verification';
import {
  assertDataFolder,
  assertLog,
  findInstanceKey,
  instanceKey,
  keepPublicKey,
  makeFolderOf,
  orFailure,
  storesConfig,
} from './config';
import { assertExport } from './export-file';

// Opens the log, the vault and the blobs alone, without Nest: bytes are moved, and nothing of the platform may read or write meanwhile.

/** What travels beside the log, in places of its own: whoever has all three can read everything. */
export interface Apart {
  readonly keys?: string;
  readonly blobs?: string;
}

export const makeExport: Verb<[file: string, apart: Apart & { readonly force?: true }]> = async (
  { output },
  file,
  { force, ...apart },
) => {
  const config = storesConfig();
  assertLog(config);
  if (apart.keys !== undefined) assertFree(apart.keys, file, force === true);
  await makeFolderOf(file);
  if (apart.keys !== undefined) await makeFolderOf(apart.keys);
  for (const named of [file, apart.keys])
    for (const path of named === undefined ? [] : await unfinishedBeside(named))
      output.note(`Note: ${path} is of an export that did not end. Remove it, unless that export runs now.`);
  const { publicKey } = sealKeyOf(instanceKey(config, 'SEAL_KEY'));
  const log = await orFailure(openLogReader(config));
  if (log.notice !== undefined) output.note(`Note: ${log.notice}.`);
  try {
    const { events } = await orFailure(
      exportLog(log, file, {
        publicKey,
        clock: systemClock,
        warn: output.progress,
        onProgress: (progress) => output.progress(progressBar('exporting', progress)),
      }),
    );
    output.progressDone();
    // After the log: a key and a body are made before the first event that names them.
    const beside = await withStores(config, apart, output, async (vault, blobs) => ({
      ...(apart.keys === undefined
        ? {}
        : { keys: (await orFailure(exportKeys(vault, apart.keys, { warn: output.progress }))).keys }),
      ...(apart.blobs === undefined
        ? {}
        : { blobs: (await carried(blobs, await openFolder(apart.blobs, vault), output)).blobs }),
    }));
    output.result({ file, events, publicKey, ...beside }, ({ keys, blobs }) => [
      `Exported ${counted(events, 'event')} to ${file}.`,
      ...(keys === undefined
        ? []
        : [`Exported ${counted(keys, 'data key')} to ${apart.keys}, encrypted with VAULT_KEY. Keep them apart.`]),
      ...(blobs === undefined ? [] : [`Copied ${counted(blobs, 'file')} to ${apart.blobs}.`]),
      `Public key of the seals, to give to auditors separately: ${publicKey}`,
    ]);
  } finally {
    await log.close();
  }
};

/** Keys that are replaced may be the last copy of those of another instance. */
const assertFree = (keys: string, file: string, force: boolean): void => {
  if (resolve(keys) === resolve(file))
    throw new Failure('Name one file for the log and another for the keys.', EXIT.wrongUsage);
  if (!force && existsSync(keys))
    throw new Failure(`${keys} exists already. Name another file, or replace it with --force.`);
};

/** The export is verified, and the log that is there compared with it, before anything is written. Keys and files come before the events: none is ever there without what it names. */
export const runImport: Verb<[file: string, given: Apart & { readonly publicKey?: string }]> = async (
  { output },
  file,
  { publicKey, ...apart },
) => {
  const config = storesConfig();
  await orFailure(assertExport(file));
  if (apart.blobs !== undefined && statSync(apart.blobs, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Failure(`${apart.blobs} is not an export's blobs folder.`, EXIT.wrongUsage);
  if (!mayShare(config)) await assertDataFolder(config);
  const checked = await shown(output, (onProgress) =>
    orFailure(verifyExport(file, { publicKeys: publicKey === undefined ? [] : [publicKey], onProgress })),
  );
  if (!checked.ok) {
    output.result(checked, verificationLines);
    return exitCodeOf(checked);
  }
  if (apart.keys !== undefined) await orFailure(checkKeys(apart.keys, instanceKey(config, 'VAULT_KEY')));
  const sealing = sealingOf(config, output);
  const log = await orFailure(openLog(config, { imports: true }));
  try {
    const publicKeys = [publicKey, checked.publicKey].filter((key) => typeof key === 'string');
    const begin = await orFailure(
      prepareImport(file, log, {
        publicKeys,
        ...(sealing && { sealing }),
        warn: output.progress,
        ...(config.EVENTSTORE_URL === undefined && { ours: eventCatalogue }),
        onProgress: (progress) => output.progress(progressBar('importing', progress)),
      }),
    );
    const beside = await withStores(config, apart, output, async (vault, blobs) => ({
      ...(apart.keys === undefined
        ? {}
        : { keys: await orFailure(importKeys(apart.keys, vault, { warn: output.progress })) }),
      ...(apart.blobs === undefined
        ? {}
        : { blobs: await carried(await openFolder(apart.blobs, vault, true), blobs, output) }),
    }));
    const imported = await orFailure(marked(config, log, output, begin));
    output.progressDone();
    if (publicKeys[0] !== undefined) await keepPublicKey(config, publicKeys[0]);
    output.result({ ...imported, ...beside }, ({ keys, blobs, ...verification }) => [
      `Imported ${file}.`,
      ...(sealing === undefined && verification.unsealed.events > 0
        ? [
            'No SEAL_KEY is set here. Events that were not sealed yet can only be proven with the SEAL_KEY of the exporting instance. To seal them now, set SEAL_KEY and import into an empty folder.',
          ]
        : []),
      ...(keys === undefined
        ? []
        : [
            `Imported ${counted(keys.keys, 'data key')}${keys.erased === 0 ? '' : `; ${count(keys.erased)} stayed destroyed`}.`,
          ]),
      ...(blobs === undefined
        ? []
        : [`Imported ${count(blobs.carried)} of ${counted(blobs.blobs, 'file')}. The others were there already.`]),
      ...verificationLines(verification),
    ]);
    return exitCodeOf(imported);
  } finally {
    await log.close();
  }
};

/** Nothing else starts on the log between the first event of an import and its end. */
const marked = async <T>(
  { DATA_DIR }: Config,
  log: EventLog,
  { progress: warn }: Output,
  work: () => Promise<T>,
): Promise<T> => {
  const mark = log.importMark ?? fileMark(join(DATA_DIR, 'log'));
  if ((await retry(() => log.head(), { warn })) === null) await retry(() => mark.set(true), { warn });
  try {
    const done = await work();
    await retry(() => mark.set(false), { warn });
    return done;
  } catch (error) {
    // A log that is away keeps the mark. Why the import failed is what is thrown.
    try {
      if ((await log.head()) === null) await mark.set(false);
    } catch {
      warn('The log stays marked as half imported. Run the import again.');
    }
    throw error;
  }
};

const fileMark = (folder: string): Pick<ImportMark, 'set'> => ({
  set: async (isUnfinished) => {
    const file = join(folder, IMPORTED_FILE);
    if (!isUnfinished) return rm(file, { force: true });
    await writeFile(file, '', { mode: 0o600 });
    await syncToDisk(folder);
  },
});

/** What seals the tail of an import, of which nobody but the exporting instance can tell who appended it; undefined where there is no key yet. */
const sealingOf = (config: Config, { note }: Output) => {
  const secret = findInstanceKey(config, 'SEAL_KEY');
  if (secret === undefined) return undefined;
  const say = (_facts: object, message: string): void => note(message);
  return {
    key: sealKeyOf(secret),
    mac: eventMacOf(secret),
    codec: new EventCodec(eventCatalogue, NO_KEYS),
    clock: systemClock,
    logger: { info: say, warn: say, error: say },
  };
};

/** Seals and what the sealer records hold nothing that is encrypted. */
const NO_KEYS: Keyring = {
  ensureKey: () => Promise.reject(new Error('the sealer encrypts nothing')),
  keys: async () => new Map(),
};

const withStores = async <T extends object>(
  config: Config,
  { keys, blobs }: Apart,
  { progress }: Output,
  work: (vault: Vault, blobs: Blobs) => Promise<T>,
): Promise<Partial<T>> => {
  if (keys === undefined && blobs === undefined) return {};
  if (keys !== undefined && blobs !== undefined && resolve(keys).startsWith(`${resolve(blobs)}/`))
    throw new Failure('Keep the keys outside the folder of the files.', EXIT.wrongUsage);
  const vault = await orFailure(openVault(config, instanceKey(config, 'VAULT_KEY'), systemClock, { warn: progress }));
  try {
    return await work(vault, await orFailure(openBlobs(config, vault, { warn: progress })));
  } finally {
    await vault.close();
  }
};

const openFolder = (folder: string, vault: Vault, readOnly = false): Promise<Blobs> =>
  orFailure(openFileBlobs({ folder, vault, readOnly }));

const carried = async (from: Blobs, to: Blobs, output: Output): Promise<CarriedBlobs> => {
  const outcome = await orFailure(
    carryBlobs(from, to, (done) => output.progress(progressBar('files', { done, total: done })), {
      warn: output.progress,
    }),
  );
  output.progressDone();
  return outcome;
};

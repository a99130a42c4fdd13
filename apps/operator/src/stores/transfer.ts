import { join } from 'node:path';
import { openSqliteEventLog, openSqliteLogReader } from '@app/event-log';
import { systemClock } from '@app/kernel';
import { exportLog, importExport, sealKeyOf, verifyExport } from '@app/sealing';
import { count } from '../output';
import { progressBar } from '../progress-bar';
import type { Verb } from '../session';
import { instanceKey, orFailure, storesConfig } from './config';
import { exitCodeOf, shown, verificationLines } from '../verification';

export const makeExport: Verb<[file: string]> = async ({ output }, file) => {
  const config = storesConfig();
  const { publicKey } = sealKeyOf(instanceKey(config, 'SEAL_KEY'));
  const log = await orFailure(openSqliteLogReader({ folder: join(config.DATA_DIR, 'log') }));
  try {
    const { events } = await orFailure(exportLog(log, file, { publicKey, clock: systemClock, onProgress: (progress) => output.progress(progressBar('exporting', progress)) }));
    output.progressDone();
    output.result({ file, events, publicKey }, () => [`Exported ${count(events)} events to ${file}.`, `Public key of the seals, to be given to auditors by another way: ${publicKey}`]);
  } finally {
    await log.close();
  }
};

/** The file is verified before anything is written, the log after. */
export const runImport: Verb<[file: string, { readonly publicKey?: string }]> = async ({ output }, file, { publicKey }) => {
  const { DATA_DIR } = storesConfig();
  const checked = await shown(output, (onProgress) => orFailure(verifyExport(file, { publicKeys: publicKey === undefined ? [] : [publicKey], onProgress })));
  if (!checked.ok) {
    output.result(checked, verificationLines);
    return exitCodeOf(checked);
  }
  const log = await orFailure(openSqliteEventLog({ folder: join(DATA_DIR, 'log') }));
  try {
    const publicKeys = [publicKey, checked.publicKey].filter((key) => typeof key === 'string');
    const imported = await shown(output, (onProgress) => orFailure(importExport(file, log, { publicKeys, onProgress })));
    output.result(imported, (verification) => [`Imported ${file} into ${DATA_DIR}.`, ...verificationLines(verification)]);
    return exitCodeOf(imported);
  } finally {
    await log.close();
  }
};

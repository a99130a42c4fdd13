import { join } from 'node:path';
import { type LogReader, openSqliteLogReader } from '@app/event-log';
import { logSource } from './log-source';
import type { Verification } from './verification';
import { verify, type VerifyOptions } from './verify';

/** Verifies a log that is open: a running server's, or a reader's. */
export const verifyLog = (log: LogReader, options: VerifyOptions): Promise<Verification> => verify(logSource(log), options);

/** Verifies the embedded log under `DATA_DIR`, whether a server runs or not. A log too damaged to open is a finding, too. */
export const verifyStores = async (dataFolder: string, options: VerifyOptions): Promise<Verification> => {
  try {
    const log = await openSqliteLogReader({ folder: join(dataFolder, 'log') });
    try {
      return await verifyLog(log, options);
    } finally {
      await log.close();
    }
  } catch (error) {
    if (!(error instanceof Error && error.name === 'LogCorrupted')) throw error;
    return unopenable(error.message);
  }
};

const unopenable = (detail: string): Verification => ({
  ok: false,
  events: 0,
  seals: 0,
  lastSeal: null,
  unsealed: { events: 0, since: null },
  removals: [],
  erasures: [],
  keyIds: [],
  findings: [{ kind: 'unreadable', detail }],
  findingsInAll: 1,
});

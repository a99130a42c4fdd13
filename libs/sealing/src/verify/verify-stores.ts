import type { LogReader } from '@app/event-log';
import { logSource } from './log-source';
import type { Finding, Verification } from './verification';
import { verify, type VerifyOptions } from './verify';

/**
 * Verifies an open log, of a running server or of a reader. Damage that was found when it was opened is a finding too.
 */
export const verifyLog = async (log: LogReader, options: VerifyOptions): Promise<Verification> => {
  const verification = await verify(logSource(log), options);
  const atOpening: Finding[] = [];
  if (log.notice !== undefined) atOpening.push({ kind: 'tail_cut', detail: log.notice });
  if (log.unsound !== undefined) atOpening.push({ kind: 'unreadable', detail: log.unsound.message });
  if (atOpening.length === 0) return verification;
  return {
    ...verification,
    ok: false,
    findings: [...verification.findings, ...atOpening],
    findingsInAll: verification.findingsInAll + atOpening.length,
  };
};

/** Opens a log, verifies and closes it. A log too damaged to open is a finding, too. */
export const verifyOpened = async (open: () => Promise<LogReader>, options: VerifyOptions): Promise<Verification> => {
  try {
    const log = await open();
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
  unproven: [],
  withoutMacs: { events: 0, upTo: 0 },
  foreign: { events: 0, since: null },
  removals: [],
  erasures: [],
  erasuresInAll: 0,
  keyIds: [],
  findings: [{ kind: 'unreadable', detail }],
  findingsInAll: 1,
});

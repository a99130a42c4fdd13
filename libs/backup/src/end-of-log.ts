import { openSqliteLogReader } from '@app/event-log';
import { headOf, knownSealText, SEAL_STREAM, sealHash, sealOf } from '@app/sealing';
import type { Manifest } from './manifest';

/** How far the log in a folder goes, as a manifest says it. Throws `LogCorrupted`. */
export const endOf = async (folder: string): Promise<Pick<Manifest, 'head' | 'lastSeal'>> => {
  const log = await openSqliteLogReader({ folder });
  try {
    const [last] = await log.readStream(SEAL_STREAM, { direction: 'backwards', limit: 1 });
    const head = last === undefined ? undefined : headOf(sealOf(last));
    return {
      head: await log.head(),
      lastSeal: head === undefined ? null : knownSealText({ ordinal: head.ordinal, hash: sealHash(head) }),
    };
  } finally {
    await log.close();
  }
};

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { openEventStoreLog } from '../eventstoredb/open';
import { SERVER_LIMITS } from '../eventstoredb/event-store-log';
import { openSqliteEventLog } from '../sqlite/open';
import type { LogUnderTest } from './log-under-test.contract';

/** Logs that need nothing installed, for the suites that each log passes. */

export interface EmbeddedLog extends LogUnderTest {
  readonly folder: string;
}

/** A log in a folder of its own. */
export const openEmbedded = async (): Promise<EmbeddedLog> => {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  let log = await openSqliteEventLog({ folder });
  return {
    folder,
    get log() {
      return log;
    },
    reopen: async () => {
      await log.close();
      return (log = await openSqliteEventLog({ folder }));
    },
    dispose: async () => {
      await log.close();
      rmSync(folder, { recursive: true });
    },
  };
};

/** A log on a double of EventStoreDB, as two processes have it. */
export const openOnDouble = async (version: '23.10.6' | '24.10.4'): Promise<LogUnderTest> => {
  const server = await startEventStoreDouble({ version });
  let log = await openEventStoreLog({ url: server.url });
  const beside = await openEventStoreLog({ url: server.url });
  return {
    beside,
    limits: SERVER_LIMITS,
    get log() {
      return log;
    },
    reopen: async () => {
      await log.close();
      await server.restart();
      return (log = await openEventStoreLog({ url: server.url }));
    },
    dispose: async () => {
      await Promise.all([log.close(), beside.close()]);
      await server.stop();
    },
  };
};

import { startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { openEventStoreLog } from '..';
import type { LogUnderTest } from '../contract/log-under-test.contract';
import { eventLogContract } from '../event-log.contract';
import { SERVER_LIMITS } from './event-store-log';

const open = async (version: '23.10.6' | '24.10.4'): Promise<LogUnderTest> => {
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

describe('the log on EventStoreDB 24.10.4', () => {
  eventLogContract(() => open('24.10.4'));
});

// The double decides appends alike for both versions; it is `test/servers` that races on real ones.
describe('the log on EventStoreDB 23.10.6', () => {
  eventLogContract(() => open('23.10.6'), { races: false });
});

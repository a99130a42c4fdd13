import { openEventStoreLog } from '@app/event-log';
import { eventLogContract } from '../../libs/event-log/src/event-log.contract';
import type { LogUnderTest } from '../../libs/event-log/src/contract/log-under-test.contract';
import { SERVER_LIMITS } from '../../libs/event-log/src/eventstoredb/event-store-log';
import { withServer } from './with-server';

/** The server's own log, whatever it holds: nothing can be removed from it. */
const open = (url: string) => async (): Promise<LogUnderTest> => {
  let log = await openEventStoreLog({ url });
  const beside = await openEventStoreLog({ url });
  return {
    beside,
    limits: SERVER_LIMITS,
    after: await log.head(),
    get log() {
      return log;
    },
    reopen: async () => {
      await log.close();
      return (log = await openEventStoreLog({ url }));
    },
    dispose: async () => {
      await Promise.all([log.close(), beside.close()]);
    },
  };
};

withServer('EVENTSTORE_URL', 'EventStoreDB', (url) => {
  it('answers as a server that can be written', async () => {
    const log = await openEventStoreLog({ url });
    expect(await log.health()).toEqual({ writable: true, readable: true });
    await log.close();
  });

  eventLogContract(open(url), { races: 1000 });
});

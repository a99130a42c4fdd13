import { openEventStoreLog } from '@app/event-log';
import { EventCatalogue } from '@app/kernel';
import { foreignEvents, intruderIn, writeForeign } from '../../../test/fixtures/foreign-events';
import { MemoryReadStore } from '../../../test/fixtures/memory-read-store';
import { until } from '../../../test/fixtures/until';
import { startEventStoreDouble } from '../../../test/servers/eventstoredb/double';
import { noLag } from '../../../test/servers/eventstoredb/lag';
import { ForeignAccount, knownForeign } from './foreign-account';

const ours = new EventCatalogue([], ['user']);

/** A server, and processes that count on it into one store. */
const shared = async () => {
  const readStore = new MemoryReadStore();
  const warnings: object[] = [];
  let server = await startEventStoreDouble({ lag: noLag });
  let log = await openEventStoreLog({ url: server.url, ours });
  const starts: (string | null)[] = [];
  const account = () =>
    new ForeignAccount({
      log: {
        readAll: (options) => log.readAll(options),
        subscribe: (options) => {
          starts.push(options.after);
          return log.subscribe(options);
        },
      },
      readStore,
      logger: { warn: (facts) => void warnings.push(facts) },
    });
  const end = async (): Promise<void> => {
    await log.close();
    await server.stop();
  };
  const anotherServer = async (): Promise<void> => {
    await end();
    server = await startEventStoreDouble({ lag: noLag });
    log = await openEventStoreLog({ url: server.url, ours });
  };
  return {
    account,
    starts,
    readStore,
    warnings,
    write: (...given: Parameters<typeof writeForeign>[1][]) => writeForeign(server.url, given[0]),
    end,
    anotherServer,
  };
};

describe('the account of what others write', () => {
  it('counts it once, from the first event on, over restarts', async () => {
    const { account, starts, readStore, write, end } = await shared();
    expect(await knownForeign(readStore)).toEqual({ events: 0, since: null });
    await write();
    const first = account();
    await first.start();
    const count = foreignEvents().length;
    await until(async () => (await knownForeign(readStore)).events === count, 'the account');
    const { since } = await knownForeign(readStore);
    expect(since?.at).toMatch(/^\d{4}-\d\d-\d\dT/);
    await first.stop();

    await write([intruderIn('user-1'), intruderIn('orders-1')]);
    const second = account();
    await second.start();
    await until(async () => (await knownForeign(readStore)).events === count + 2, 'what came since');
    expect((await knownForeign(readStore)).since).toEqual(since);
    expect(starts).toEqual([null, expect.stringMatching(/^\d{20}$/)]);
    await second.stop();
    await end();
  });

  it('begins anew on another log', async () => {
    const { account, starts, readStore, write, end, anotherServer } = await shared();
    await write();
    const first = account();
    await first.start();
    await until(async () => (await knownForeign(readStore)).events > 0, 'the account');
    await first.stop();
    await anotherServer();
    await write([intruderIn('orders-1')]);
    const second = account();
    await second.start();
    await until(async () => (await knownForeign(readStore)).events === 1, 'the other account');
    expect(starts).toEqual([null, null]);
    await second.stop();
    await end();
  });

  it('is stored with the next change where the store was away', async () => {
    const { account, readStore, warnings, write, end } = await shared();
    const write0 = readStore.writeState.bind(readStore);
    readStore.writeState = () => Promise.reject(new Error('away'));
    const counting = account();
    await counting.start();
    await write([intruderIn('user-9')]);
    await until(() => warnings.length > 0, 'a failure');
    readStore.writeState = write0;
    await write([intruderIn('user-9')]);
    await until(async () => (await knownForeign(readStore)).events === 2, 'the account');
    await counting.stop();
    await end();
  });
});

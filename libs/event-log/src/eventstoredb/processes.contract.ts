import {
  type CommandMeta,
  Decisions,
  type Decider,
  defineEvent,
  EventCatalogue,
  EventCodec,
  type EventsOf,
  inReadScope,
  TimeOrderedIds,
} from '@app/kernel';
import { z } from 'zod';
import { CountingProxy } from '../../../../test/fixtures/counting-proxy';
import {
  type DoubleOptions,
  type EventStoreDouble,
  noLag,
  startEventStoreDouble,
} from '../../../../test/servers/eventstoredb/double';
import type { OurEvents } from '../event-log';
import { Connection } from './connection';
import { EventStoreLog } from './event-store-log';
import { Removals } from './removals';

export const Counted = defineEvent({ type: 'Counted', description: 'One more.', data: z.strictObject({}) });
type CounterEvent = EventsOf<[typeof Counted]>;

/** Counts its events. */
export const counter: Decider<number, null, CounterEvent> = {
  category: 'counter',
  initial: 0,
  decide: () => [{ type: 'Counted', data: {} }],
  evolve: (count) => count + 1,
};

const ids = new TimeOrderedIds();
const meta = (): CommandMeta => ({
  commandId: ids.next(),
  actor: 'user:u1',
  correlationId: ids.next(),
  now: new Date(),
});

/** A process: a log of its own on the server, and what it remembers. */
export const processOn = (url: string, ours?: OurEvents) => {
  const connection = new Connection(url, ours);
  const log = new EventStoreLog(connection, new Removals(connection));
  const decisions = new Decisions(
    log,
    new EventCodec(new EventCatalogue([Counted]), {
      ensureKey: async () => Buffer.alloc(32),
      keys: async () => new Map(),
    }),
  );
  const count = (id: string): Promise<number> => inReadScope(async () => (await decisions.load(counter, id)).state);
  const add = (id: string) => inReadScope(() => decisions.transact(counter, id, null, meta()));
  return { log, index: log.readIndex, decisions, count, add };
};
export type Process = ReturnType<typeof processOn>;

/** A test's body with a server, a proxy before it that counts, and two processes; the first one's calls are counted. */
export const withTwo =
  (
    body: (given: { first: Process; second: Process; proxy: CountingProxy; server: EventStoreDouble }) => Promise<void>,
    options: DoubleOptions = { lag: noLag },
  ) =>
  async (): Promise<void> => {
    const server = await startEventStoreDouble(options);
    const proxy = await CountingProxy.start({ origin: `http://127.0.0.1:${server.port}` });
    const [first, second] = [processOn(proxy.url), processOn(server.url)];
    try {
      await first.index.ask();
      await body({ first, second, proxy, server });
    } finally {
      await Promise.all([first.log.close(), second.log.close()]);
      await proxy.stop();
      await server.stop();
    }
  };

/** What was read of the server while something was done. */
export const readsOf = async (proxy: CountingProxy, work: () => Promise<unknown>): Promise<number> => {
  const before = { ...proxy.calls };
  await work();
  return proxy.since(before).reads;
};

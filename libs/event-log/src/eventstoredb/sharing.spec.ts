import { EventCatalogue, type StoredEvent } from '@app/kernel';
import { foreignEvents, intruderIn, writeForeign } from '../../../../test/fixtures/foreign-events';
import { until } from '../../../../test/fixtures/until';
import { type EventStoreDouble, startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { type EventLog, type ForeignEvent, openEventStoreLog, openEventStoreLogReader } from '..';
import { newEvents } from '../contract/log-under-test.contract';

const metadata = JSON.stringify({
  $correlationId: 'a',
  $causationId: 'a',
  commandId: 'a',
  actor: 'user:1',
  schema: '1',
  recordedAt: '2026-01-01T00:00:00.000Z',
});
const ours = new EventCatalogue([], ['user', 'agent', 'document', 'space']);

const places = (events: readonly Pick<StoredEvent, 'stream' | 'revision'>[]): string[] =>
  events.map(({ stream, revision }) => `${stream}@${revision}`);

describe('a server that is shared with other programs', () => {
  let server: EventStoreDouble;
  let log: EventLog;
  beforeEach(async () => {
    server = await startEventStoreDouble();
    log = await openEventStoreLog({ url: server.url, ours });
  });
  afterEach(async () => {
    await log.close();
    await server.stop();
  });

  /** Appends behind what stands there, so that a stream's own events follow each other. */
  const append = (stream: string, count = 1, expected: number | 'noStream' = 'noStream') =>
    log.append(stream, newEvents(count, { metadata }), expected);
  /** Every page of a log, one event of ours or of theirs at a time. */
  const paged = async (direction: 'forwards' | 'backwards') => {
    const found = { ours: [] as StoredEvent[], foreign: [] as ForeignEvent[] };
    for (
      let page = await log.readAll({ direction, withForeign: true, limit: 1 });
      ;
      page = await log.readAll({ direction, withForeign: true, limit: 1, after: page.next })
    ) {
      found.ours.push(...page.events);
      found.foreign.push(...(page.foreign ?? []));
      if (page.end) return found;
    }
  };

  it('is empty where it holds only what others wrote', async () => {
    await writeForeign(server.url);

    expect(await log.head()).toBeNull();
    const { events, foreign, end, isForeign } = await log.readAll({ withForeign: true });
    expect([events, end, isForeign]).toEqual([[], true, true]);
    expect((await log.readAll()).foreign).toBeUndefined();
    expect(places(foreign ?? [])).toHaveLength(foreignEvents().length);
    for (const { stream } of foreignEvents()) expect(await log.readStream(stream)).toEqual([]);
  });

  it.each(['forwards', 'backwards'] as const)(
    'shows what is ours alone, %s, and hands what it passes over to those who look for it',
    async (direction) => {
      const began = Date.now();
      await append('agent-1', 2);
      await writeForeign(server.url);
      await append('space-1');
      await append('agent-1', 1, 1);
      const { ours: shown, foreign } = await paged(direction);

      const inOrder = ['agent-1@0', 'agent-1@1', 'space-1@0', 'agent-1@2'];
      expect(places(shown)).toEqual(direction === 'forwards' ? inOrder : inOrder.toReversed());
      expect(foreign.map(({ stream }) => stream).toSorted()).toEqual(
        foreignEvents()
          .map(({ stream }) => stream)
          .toSorted(),
      );
      for (const { position } of foreign) expect(await log.eventAt(position)).toBeUndefined();
      for (const { at } of foreign) expect(Math.abs(Date.parse(at) - began)).toBeLessThan(60_000);
      expect(places((await log.readAll({ filter: { types: ['UserCreated'] } })).events)).toEqual([]);
    },
  );

  it('reads streams as if nobody else had written into them', async () => {
    await append('agent-1', 2);
    await writeForeign(server.url, [intruderIn('agent-1'), intruderIn('agent-1')]);

    expect(places(await log.readStream('agent-1'))).toEqual(['agent-1@0', 'agent-1@1']);
    expect(places(await log.readStream('agent-1', { from: 1, limit: 2 }))).toEqual(['agent-1@1']);
    expect(places(await log.readStream('agent-1', { from: 2 }))).toEqual([]);
    expect(places(await log.readStream('agent-1', { direction: 'backwards', limit: 1 }))).toEqual(['agent-1@1']);
    expect(places(await log.readStream('agent-1', { direction: 'backwards', limit: 5 }))).toEqual([
      'agent-1@1',
      'agent-1@0',
    ]);
    expect(places(await log.readStream('agent-1', { direction: 'backwards', from: 2, limit: 1 }))).toEqual([
      'agent-1@1',
    ]);
  });

  it('writes no stream of ours any more that others write, and all others as before', async () => {
    await append('agent-1', 2);
    await writeForeign(server.url, [intruderIn('agent-1'), ...foreignEvents()]);

    const rejected = { name: 'LogCorrupted', place: 'agent-1@2', message: expect.stringContaining('another program') };
    await expect(append('agent-1', 1, 1)).rejects.toMatchObject(rejected);
    await expect(append('agent-1', 3, 1)).rejects.toMatchObject(rejected);
    // Whoever read the stream before the last of ours lost a race, first of all.
    await expect(append('agent-1', 1, 'noStream')).rejects.toMatchObject({ name: 'WrongExpectedRevision' });
    await expect(append('user-42')).rejects.toMatchObject({ name: 'LogCorrupted', place: 'user-42@0' });
    expect(await append('agent-2')).toMatchObject({ revision: 0 });

    const events = newEvents(1, { metadata });
    await log.append('space-1', events, 'noStream');
    await writeForeign(server.url, [intruderIn('space-1')]);
    expect(await log.append('space-1', events, 'noStream')).toMatchObject({ revision: 0 });
    await log.truncate('agent-1', 1);
    await log.truncate('agent-1', 2);
    expect(places((await log.readAll()).events)).toEqual(['agent-2@0', 'space-1@0']);
  });

  it('finds its end behind much that others wrote', async () => {
    const { position } = await append('agent-1');
    const many = Array.from({ length: 260 }, () => intruderIn('orders-1'));
    await writeForeign(server.url, many);
    expect(await log.head()).toBe(position);
    await writeForeign(server.url, many.slice(0, 3));
    expect(await log.head()).toBe(position);
    const next = await append('agent-1', 1, 0);
    expect(await log.head()).toBe(next.position);
  });

  it('tells those who follow of what is ours, at once, and wakes them for little else', async () => {
    const received: string[] = [];
    const passed: string[] = [];
    let pages = 0;
    const subscription = log.subscribe({
      name: 'follower',
      after: null,
      withForeign: true,
      onEvents: async (events, _upTo, page) => {
        pages += 1;
        received.push(...places(events));
        passed.push(...places(page?.foreign ?? []));
      },
    });
    await until(() => subscription.caughtUp);
    pages = 0;
    await writeForeign(
      server.url,
      Array.from({ length: 600 }, () => intruderIn('orders-1')),
    );
    await writeForeign(server.url);
    await append('agent-1');
    await until(() => received.length === 1);

    expect(received).toEqual(['agent-1@0']);
    expect(passed).toHaveLength(600 + foreignEvents().length);
    expect(pages).toBeLessThan(20);
    await subscription.stop();
  });

  it('is read the same by those who only look, and knows whose events it holds by that alone', async () => {
    await append('agent-1');
    await writeForeign(server.url);
    const reader = await openEventStoreLogReader({ url: server.url, ours });
    expect(places((await reader.readAll()).events)).toEqual(['agent-1@0']);
    await reader.close();
    const all = await openEventStoreLogReader({ url: server.url });
    const page = await all.readAll({ withForeign: true });
    expect([page.events.length, page.foreign]).toEqual([foreignEvents().length + 1, undefined]);
    await all.close();
  });
});

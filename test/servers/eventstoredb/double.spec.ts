import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { status, type ServiceError } from '@grpc/grpc-js';
import { ANY, EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb';
import { until } from '../../fixtures/until';
import { type DoubleOptions, endlessLag, type EventStoreDouble, startEventStoreDouble } from './double';
import { noLag, seededLag } from './lag';
import { RawClient } from './raw-client';

/** What a subscription said so far, by kind, and how it ended. */
const hear = (call: ReturnType<RawClient['subscribe']>) => {
  const heard = { events: 0, caughtUps: 0, failure: undefined as ServiceError | undefined };
  call.on('data', (response: ReadResp) => {
    if (response.hasEvent()) heard.events += 1;
    if (response.hasCaughtUp()) heard.caughtUps += 1;
  });
  call.on('error', (error: ServiceError) => (heard.failure = error));
  return heard;
};

let double: EventStoreDouble;
let client: RawClient;
const begin = async (options: DoubleOptions = {}): Promise<void> => {
  double = await startEventStoreDouble(options);
  client = new RawClient(double.port);
};
const end = async (): Promise<void> => {
  client.close();
  await double.stop();
};

describe('the double of EventStoreDB, when it does wrong on purpose', () => {
  afterEach(end);

  it('drops an acknowledgement after the commit', async () => {
    await begin();
    double.faults.dropAcknowledgements = 1;
    const ids = [client.append('notes-1'), client.append('notes-1')];
    await until(() => client.answers.length > 0);
    expect(client.answers).toHaveLength(1);
    expect(client.answers[0]?.getSuccess()?.getCurrentRevision()).toBe('1');
    expect(await client.read('notes-1')).toEqual(ids);
  });

  it('answers one append twice', async () => {
    await begin();
    double.faults.answerTwice = 1;
    const id = client.append('notes-1');
    await until(() => client.answers.length === 2);
    expect(new Set(client.answers.map((answer) => answer.getCorrelationId()?.getString())).size).toBe(1);
    expect(await client.read('notes-1')).toEqual([id]);
  });

  it('times out, with and without a commit', async () => {
    await begin();
    double.faults.commitTimeouts = 1;
    const stored = client.append('notes-1');
    await until(() => client.answers.length === 1);
    double.faults.prepareTimeouts = 1;
    client.append('notes-1');
    await until(() => client.answers.length === 2);
    expect(client.answers.map((answer) => answer.getError()?.getMessage())).toEqual(['Timeout', 'Timeout']);
    await until(() => double.waiting() === 0);
    expect(await client.read('notes-1')).toEqual([stored]);
  });

  it('is not ready: appends are rejected one by one, reads as unavailable', async () => {
    await begin();
    double.faults.refusal = 'Server Is Not Ready';
    client.append('notes-1');
    await until(() => client.answers.length === 1);
    expect(client.answers[0]?.getError()?.getMessage()).toBe('Server Is Not Ready');
    await expect(client.read('notes-1')).rejects.toMatchObject({
      code: status.UNAVAILABLE,
      details: 'Server Is Not Ready',
    });
  });

  it('does not lead: it names the leader to writers and to readers that require it', async () => {
    await begin();
    double.faults.leader = { host: '127.0.0.2', port: 2113 };
    client.append('notes-1');
    await until(() => client.failure !== undefined);
    for (const failure of [client.failure, await client.readFromLeader('notes-1')]) {
      expect(failure?.code).toBe(status.NOT_FOUND);
      expect(failure?.metadata.getMap()).toMatchObject({
        exception: 'not-leader',
        'leader-endpoint-host': '127.0.0.2',
        'leader-endpoint-port': '2113',
      });
    }
    expect(await client.read('notes-1')).toEqual([]);
  });

  it('is unavailable, and breaks connections', async () => {
    await begin();
    double.faults.isUnavailable = true;
    await expect(client.read('notes-1')).rejects.toMatchObject({ code: status.UNAVAILABLE });
    double.faults.isUnavailable = false;
    const heard = hear(client.subscribe('notes-1'));
    await until(() => heard.caughtUps === 1);
    double.disconnect();
    await until(() => heard.failure !== undefined);
    expect(heard.failure?.code).toBe(status.UNAVAILABLE);
  });

  it('answers late', async () => {
    await begin();
    double.faults.delayMs = 50;
    const from = performance.now();
    client.append('notes-1');
    await until(() => client.answers.length === 1);
    expect(performance.now() - from).toBeGreaterThanOrEqual(49);
  });

  it('stalls subscriptions without closing them', async () => {
    await begin();
    const heard = hear(client.subscribe('notes-1'));
    await until(() => heard.caughtUps === 1);
    double.faults.stallSubscriptions = true;
    client.append('notes-1');
    await until(() => client.answers.length === 1);
    expect(await client.read('notes-1')).toHaveLength(1);
    expect(heard.events).toBe(0);
    double.faults.stallSubscriptions = false;
    await until(() => heard.events === 1);
  });

  it('is silent on connections that stay open', async () => {
    await begin();
    let asked = 0;
    Object.defineProperty(double.faults, 'isSilent', { configurable: true, get: () => (asked += 1) > 0 });
    const read = client.read('notes-1').then(() => 'answered');
    await until(() => asked > 0);
    expect(await Promise.race([read, pause(100)])).toBeUndefined();
    Object.defineProperty(double.faults, 'isSilent', { value: false });
    expect(await client.read('notes-1')).toEqual([]);
    double.disconnect();
    await expect(read).rejects.toMatchObject({ code: status.UNAVAILABLE });
  });

  it.each([0, 100])('says %d times that a subscription caught up', async (caughtUps) => {
    await begin();
    double.faults.caughtUps = caughtUps;
    const heard = hear(client.subscribe('notes-1'));
    await until(() => double.listeners() === 1);
    client.append('notes-1');
    await until(() => heard.events === 1);
    expect(heard.caughtUps).toBe(caughtUps);
  });

  it('drops listeners as too slow', async () => {
    await begin();
    const heard = hear(client.subscribe('notes-1'));
    await until(() => heard.caughtUps === 1);
    double.dropListeners();
    await until(() => heard.failure !== undefined);
    expect(heard.failure).toMatchObject({
      code: status.ABORTED,
      details: expect.stringContaining('Consumer too slow') as string,
    });
    expect(double.listeners()).toBe(0);
  });

  it.each(['23.10.6', '24.10.4'] as const)(
    'as version %s treats a listener that is too slow as that version does',
    async (version) => {
      await begin({ version });
      const call = client.subscribe('notes-1');
      // Version 23 says nothing of a stream that is not there.
      client.append('notes-1');
      const heard = hear(call);
      await until(() => heard.caughtUps === 1 && heard.events === 1);
      call.pause();
      for (let i = 0; i < 300; i += 1) client.append('notes-1', { bytes: 10_000 });
      await until(() => client.answers.length === 301);
      call.resume();
      if (version === '24.10.4') {
        await until(() => heard.events === 301 && heard.caughtUps === 2);
      } else {
        await until(() => heard.failure !== undefined);
        expect(heard.failure?.code).toBe(status.ABORTED);
        expect(heard.events).toBeLessThan(301);
      }
    },
  );

  it('rejects appends above the size it was given', async () => {
    await begin({ maxAppendSize: 100 });
    client.append('notes-1', { bytes: 200 });
    await until(() => client.answers.length === 1);
    expect(client.answers[0]?.getError()?.getMessage()).toBe('MaximumAppendSizeExceeded');
  });

  it('forgets repeats at any when it restarts, and knows those at a revision', async () => {
    await begin();
    const [first, second] = [randomUUID(), randomUUID()];
    const connection = EventStoreDBClient.connectionString(double.url);
    const append = (id: string, expectedRevision: typeof ANY | typeof NO_STREAM) =>
      connection.appendToStream(`notes-${id}`, jsonEvent({ id, type: 'Noted', data: {} }), { expectedRevision });
    const write = async () => [
      (await append(first, ANY)).nextExpectedRevision,
      (await append(second, NO_STREAM)).nextExpectedRevision,
    ];
    expect([await write(), await write()]).toEqual([
      [0n, 0n],
      [0n, 0n],
    ]);
    await double.restart();
    await expect(write().catch(write)).resolves.toEqual([1n, 0n]);
    await connection.dispose();
  });
});

describe('the double of EventStoreDB, as a real server, decides before it shows', () => {
  const all = async (connection: EventStoreDBClient): Promise<string[]> => {
    const streams: string[] = [];
    for await (const { event } of connection.readAll())
      if (event?.streamId.startsWith('notes-') === true) streams.push(event.streamId);
    return streams;
  };
  const answered = (): (string | undefined)[] =>
    client.answers.map((answer) => answer.getSuccess()?.getCurrentRevision());

  it('rejects by what no reader sees yet, and shows it everywhere when it acknowledges it', async () => {
    await begin({ lag: endlessLag });
    const connection = EventStoreDBClient.connectionString(double.url);
    const heard = hear(client.subscribe('notes-1'));
    const id = client.append('notes-1');
    await until(async () => {
      const error: unknown = await connection
        .appendToStream('notes-1', jsonEvent({ type: 'Noted', data: {} }), { expectedRevision: 5n })
        .catch((refusal: unknown) => refusal);
      return (error as { actualVersion?: bigint }).actualVersion === 0n;
    }, 'a refusal');
    expect([answered(), await client.read('notes-1'), await all(connection), heard.events]).toEqual([[], [], [], 0]);

    double.showAll();
    await until(() => client.answers.length === 1);
    expect([answered(), await client.read('notes-1'), await all(connection)]).toEqual([['0'], [id], ['notes-1']]);
    await until(() => heard.events === 1);
    await connection.dispose();
    await end();
  });

  it('shows and acknowledges in the order of the log, whatever the lag of each', async () => {
    const lags = [60, 0, 30, 0, 90, 0];
    await begin({ lag: () => lags.shift() ?? 0 });
    for (let stream = 0; stream < 6; stream += 1) client.append(`notes-${stream % 2}`);
    await until(() => client.answers.length === 6);
    expect(answered()).toEqual(['0', '0', '1', '1', '2', '2']);
    await end();
  });

  it('drops a repeat of what it has not shown: the caller hears of a timeout', async () => {
    await begin({ lag: endlessLag });
    const id = client.append('notes-1');
    client.append('notes-1', { id });
    await until(() => client.answers.length === 1);
    expect(client.answers[0]?.getError()?.getMessage()).toBe('Timeout');
    double.showAll();
    client.append('notes-1', { id });
    await until(() => client.answers.length === 3);
    expect([answered(), await client.read('notes-1')]).toEqual([[undefined, '0', '0'], [id]]);
    await end();
  });

  it('lags for less than 10 ms as a rule and for 150 ms at most, and by one seed alike', () => {
    const [lag, again] = [seededLag(7), seededLag(7)];
    const drawn = Array.from({ length: 1_000 }, lag);
    expect(drawn).toEqual(Array.from({ length: 1_000 }, again));
    expect(drawn.filter((milliseconds) => milliseconds < 10).length).toBeGreaterThan(850);
    expect(Math.max(...drawn)).toBeLessThan(150);
    expect(Math.max(...drawn)).toBeGreaterThan(80);
  });

  it('links what was written, where its standard projections run', async () => {
    await begin({ projections: true, lag: noLag });
    client.append('notes-1');
    client.append('notes-1');
    await until(() => double.waiting() === 0 && client.answers.length === 2);
    for (const [stream, count] of [
      ['$ce-notes', 2],
      ['$et-Noted', 2],
      ['$streams', 1],
      ['$category-notes', 1],
    ] as const)
      await until(async () => (await client.read(stream)).length === count, stream);
    expect(await client.read('$bc-1')).toEqual([]);
    await end();
  });
});

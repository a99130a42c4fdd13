import { readFileSync, writeFileSync } from 'node:fs';
import { type EventLog, openEventStoreLog, openEventStoreLogReader, stampAppends } from '@app/event-log';
import { Decisions } from '@app/kernel';
import { appendsWithin } from '../../../test/fixtures/lagging-logs';
import { until } from '../../../test/fixtures/until';
import { endlessLag, type Lag, noLag } from '../../../test/servers/eventstoredb/double';
import { removeEvents } from './removal';
import { knownSealText, parseKnownSeal } from './verify/verification';
import { verifyLog } from './verify/verify-stores';
import { file, keys, server, start, stop, test, withSealedServer } from '../../../test/fixtures/sealed-server';

withSealedServer();

describe('seals over EventStoreDB', () => {
  /** A line of the file behind the double: stream, time, tombstone, and events as id, type, JSON, data and metadata in base64. */
  type Line = [
    stream: string,
    created: number,
    isTombstone: boolean,
    events: [id: string, type: string, isJson: boolean, data: string, metadata: string][],
  ];

  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const isOurs = ([stream]: Line): boolean => stream.startsWith('document-');
  let lag: Lag;
  /** Changes what the server keeps, as somebody with access to its disk would. */
  const tamper = async (change: (lines: Line[]) => Line[]): Promise<void> => {
    await stop();
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    writeFileSync(
      file,
      change(lines)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    await start();
  };

  const nth = (lines: Line[], index: number): Line => lines.filter(isOurs)[index] as Line;
  const findings = async () => (await verifyLog(test.log, keys())).findings;
  it('prove an unaltered log, from elsewhere too', async () => {
    const expected = { ok: true, events: 6, seals: 2, findings: [], unsealed: { events: 0 } };
    expect(await verifyLog(test.log, keys())).toMatchObject(expected);
    const reader = await openEventStoreLogReader({ url: server.url });
    expect(await verifyLog(reader, keys())).toMatchObject(expected);
    await reader.close();
  });

  it('hold over a restart, and go on', async () => {
    await tamper((lines) => lines);
    await test.note('document-3', 'later');
    await test.seal();
    expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, events: 7, seals: 3, findings: [] });
  });

  it('are not made of what a restored backup lost while the sealer ran', async () => {
    const running = test;
    const sealer = running.newSealer({ delayMs: 60_000 });
    await sealer.start();
    const backup = readFileSync(file);
    await running.note('document-1', 'lost');
    await until(() => sealer.waiting === 1, 'the event');
    const { port } = server;
    await server.stop();
    writeFileSync(file, backup);
    await start({ port });
    await sealer.stop();
    await running.close();
    expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, events: 6, seals: 2, findings: [] });
  });

  it('find an event that is gone', async () => {
    await tamper((lines) => lines.filter((line) => line !== nth(lines, 4)));
    expect(await findings()).toContainEqual(
      expect.objectContaining({ kind: 'missing', ordinal: 5, stream: 'document-2', revision: 1 }),
    );
  });

  it.each<[string, (event: Line[3][number]) => void]>([
    ['its data', (event) => (event[3] = base64('{"text":"round 9"}'))],
    ['a blank in its data', (event) => (event[3] = base64(`${Buffer.from(event[3], 'base64').toString()} `))],
    ['a blank in its metadata', (event) => (event[4] = base64(` ${Buffer.from(event[4], 'base64').toString()}`))],
    ['its type', (event) => (event[1] = 'Noticed')],
  ])('find an event that was changed: %s', async (_name, change) => {
    await tamper((lines) => {
      change(nth(lines, 1)[3][0] as Line[3][number]);
      return lines;
    });
    expect(await findings()).toContainEqual(
      expect.objectContaining({ kind: 'changed', ordinal: 2, stream: 'document-2', revision: 0 }),
    );
  });

  it('find a tail that was cut off, when a seal was noted', async () => {
    const { lastSeal } = await verifyLog(test.log, keys());
    const since = parseKnownSeal(knownSealText(lastSeal ?? { ordinal: 0, hash: '' }));
    await tamper((lines) => lines.slice(0, lines.indexOf(nth(lines, 3))));
    expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, events: 3 });
    expect((await verifyLog(test.log, { ...keys(), since })).findings).toContainEqual(
      expect.objectContaining({ kind: 'tail_cut' }),
    );
  });

  it('explain what was removed rightfully, though the server still holds it', async () => {
    await test.removal({ stream: 'document-1', beforeRevision: 2, reason: 'retention' });
    expect(await verifyLog(test.log, keys())).toMatchObject({
      ok: true,
      findings: [],
      removals: [{ stream: 'document-1', events: 2 }],
    });
    expect(readFileSync(file, 'utf8')).toContain(base64('{"text":"round 0"}'));
    await tamper((lines) => lines);
    expect(await verifyLog(test.log, keys())).toMatchObject({
      ok: true,
      removals: [{ stream: 'document-1', events: 2 }],
    });
  });

  it('are made once when two sealers run, as two processes do', async () => {
    const beside = await openEventStoreLog({ url: server.url });
    stampAppends(beside, test.mac);
    const sealers = [test.newSealer(), test.newSealer({ log: beside })];
    await Promise.all(sealers.map((sealer) => sealer.start()));
    for (let count = 0; count < 20; count += 1) await test.note(`document-${count % 3}`, `note ${count}`);
    await until(() => sealers.some((sealer) => sealer.ordinal === 26));
    await Promise.all(sealers.map((sealer) => sealer.stop()));
    await beside.close();
    expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, events: 26, findings: [] });
  });

  it('are not tried again and again while the seal of another is not shown', async () => {
    await stop();
    lag = noLag;
    await start({ lag: () => lag() });
    const beside = await openEventStoreLog({ url: server.url });
    stampAppends(beside, test.mac);
    const tried = appendsWithin(beside);
    const sealers = [test.newSealer(), test.newSealer({ log: beside })] as const;
    await test.note('document-3', 'later');
    lag = endlessLag;
    await sealers[0].start();
    await until(() => server.waiting() === 1, 'the seal of the first');
    await sealers[1].start();
    await until(() => tried.mock.calls.length > 0, 'a try of the second');
    const outcomes = await Promise.allSettled(tried.mock.results.map(({ value }) => value as Promise<unknown>));
    expect(outcomes).toMatchObject([{ status: 'rejected', reason: { name: 'Unavailable', outcome: 'unknown' } }]);
    lag = noLag;
    server.showAll();
    await until(() => sealers.every(({ waiting }) => waiting === 0), 'all sealed');
    await Promise.all(sealers.map((sealer) => sealer.stop()));
    expect(tried.mock.calls.length).toBeLessThan(5);
    await beside.close();
    expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, events: 7, seals: 3, findings: [] });
  });

  it('cover the receipts of removals at once by two processes', async () => {
    const beside = await openEventStoreLog({ url: server.url });
    stampAppends(beside, test.mac);
    const sealer = test.newSealer();
    await sealer.start();
    const remove = (log: EventLog, stream: string) =>
      removeEvents(
        log,
        new Decisions(log, test.codec),
        { stream, beforeRevision: 1, reason: 'retention' },
        { actor: 'system:retention', now: test.clock.now() },
      );
    await Promise.all([remove(test.log, 'document-1'), remove(beside, 'document-2'), remove(beside, 'document-1')]);
    await sealer.stop();
    await beside.close();
    expect(await test.log.readStream('removals-1')).toHaveLength(2);
    expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, removals: [{ events: 1 }, { events: 1 }] });
  });
});

import { join } from 'node:path';
import { type EventLog, openEventStoreLog } from '@app/event-log';
import type { RetryOptions, StoredEvent } from '@app/kernel';
import { importExport } from '../../../test/fixtures/import-export';
import { SealedLog } from '../../../test/fixtures/sealed-log';
import { type EventStoreDouble, startEventStoreDouble } from '../../../test/servers/eventstoredb/double';
import { exportLog } from './export/export-log';
import { folder, keys, test, withSealedServer } from '../../../test/fixtures/sealed-server';

withSealedServer();

describe('seals over EventStoreDB', () => {
  describe('brought to another server', () => {
    let target: EventStoreDouble;
    let log: EventLog;
    let path: string;
    beforeEach(async () => {
      target = await startEventStoreDouble();
      log = await openEventStoreLog({ url: target.url });
      path = join(folder, 'there.jsonl');
    });
    afterEach(async () => {
      await log.close();
      await target.stop();
    });

    /** What an import of many events between many streams brings, while something happens at some of them. */
    const imported = async (happens: ReadonlyMap<number, () => unknown>, options: RetryOptions = {}) => {
      await exportLog(test.log, path, { publicKey: test.key.publicKey, clock: test.clock });
      return importExport(path, log, { ...keys(), ...options, onProgress: ({ done }) => happens.get(done)?.() });
    };
    const content = (events: readonly StoredEvent[]) => events.map((event) => ({ ...event, position: '' }));
    /** Notes between forty streams, so that hardly any two can be appended together. */
    const noteMuch = async (count: number) => {
      for (let first = 0; first < count; first += 40)
        await Promise.all(
          Array.from({ length: 40 }, (_, stream) => test.note(`document-${stream}`, `note ${first + stream}`)),
        );
      await test.seal();
    };
    const all = async () => content((await log.readAll({ limit: 10_000 })).events);

    it('stand in their order, though the connection broke in the middle', async () => {
      await noteMuch(240);

      const outcome = await imported(new Map([60, 120, 180, 240].map((done) => [done, () => target.disconnect()])));

      expect(outcome).toMatchObject({ ok: true, findings: [] });
      expect(await all()).toEqual(content(await test.events()));
    });

    it('are complete when the import is begun again, also where whole streams were removed', async () => {
      await test.removal({ stream: 'document-2', beforeRevision: 2, reason: 'retention' });
      expect(await imported(new Map())).toMatchObject({ ok: true, findings: [] });

      expect(await imported(new Map())).toMatchObject({ ok: true, findings: [] });
      expect(await all()).toEqual(content(await test.events()));
    });

    it('stand there once when two processes import them at once', async () => {
      await test.removal({ stream: 'document-2', beforeRevision: 2, reason: 'retention' });
      const beside = await openEventStoreLog({ url: target.url });
      await exportLog(test.log, path, { publicKey: test.key.publicKey, clock: test.clock });

      const outcomes = await Promise.all([log, beside].map((each) => importExport(path, each, keys())));

      expect(outcomes).toMatchObject([
        { ok: true, findings: [] },
        { ok: true, findings: [] },
      ]);
      expect(await all()).toEqual(content(await test.events()));
      await beside.close();
    });

    it('stand in their order, though the server was away for longer than it waits by itself', async () => {
      await noteMuch(200);
      const said: string[] = [];
      const warn = (sentence: string): void => {
        said.push(sentence);
        if (said.length === 2) void target.restart();
      };

      const outcome = await imported(new Map([[100, () => target.stop()]]), { warn });

      expect(outcome).toMatchObject({ ok: true, findings: [] });
      expect(said.length).toBeGreaterThanOrEqual(2);
      expect(await all()).toEqual(content(await test.events()));
    });

    it('go on where they were when the server was away for too long', async () => {
      await noteMuch(240);
      const away = imported(new Map([[120, () => target.stop()]]), { timeoutMs: 0 });
      await expect(away).rejects.toMatchObject({ name: 'Unavailable' });
      await target.restart();

      expect(await imported(new Map())).toMatchObject({ ok: true, findings: [] });
      expect(await all()).toEqual(content(await test.events()));
    });
  });

  it('travel to an embedded log and back with every event, also many large ones of a stream', async () => {
    await test.removal({ stream: 'document-2', beforeRevision: 1, reason: 'retention' });
    for (let count = 0; count < 8; count += 1) await test.note('document-4', `${count} ${'\u00fc'.repeat(100_000)}`);
    await test.seal();
    const options = { publicKey: test.key.publicKey, clock: test.clock };
    const embedded = await SealedLog.unstamped();
    await exportLog(test.log, join(folder, 'there.jsonl'), options);
    expect(await importExport(join(folder, 'there.jsonl'), embedded.log, keys())).toMatchObject({
      ok: true,
      findings: [],
    });
    await exportLog(embedded.log, join(folder, 'back.jsonl'), options);
    const target = await startEventStoreDouble();
    const log = await openEventStoreLog({ url: target.url });

    expect(await importExport(join(folder, 'back.jsonl'), log, keys())).toMatchObject({ ok: true, findings: [] });
    const content = (events: readonly StoredEvent[]) => events.map((event) => ({ ...event, position: '' }));
    expect(content((await log.readAll()).events)).toEqual(content(await test.events()));
    await log.close();
    await target.stop();
    await embedded.close();
    embedded.remove();
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonEvent } from '@eventstore/db-client';
import { openEventStoreLog } from '@app/event-log';
import { EventCatalogue } from '@app/kernel';
import { importExport } from '../../../test/fixtures/import-export';
import { foreignEvents, intruderIn, writeForeign } from '../../../test/fixtures/foreign-events';
import { SealedLog } from '../../../test/fixtures/sealed-log';
import { type EventStoreDouble, startEventStoreDouble } from '../../../test/servers/eventstoredb/double';
import { noLag } from '../../../test/servers/eventstoredb/lag';
import { exportLog } from './export/export-log';
import { verifyExport } from './export/verify-export';
import { SealArchive } from './seal-archive';
import { SealedOrdinals } from './sealed-ordinals';
import { sealOf } from './sealed-place';
import { verifyLog } from './verify/verify-stores';

const ours = new EventCatalogue([], ['document', 'sealLog', 'removals', 'unproven']);
/** What is no UTF-8 is three times as long when it is replaced: too long to be imported. */
const movable = () => foreignEvents().filter(({ what }) => what !== 'a megabyte');
const count = foreignEvents().length;

describe('seals over a server that is shared', () => {
  let folder: string;
  let file: string;
  let server: EventStoreDouble;
  let test: SealedLog;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'shared-'));
    file = join(folder, 'log.jsonl');
    await start();
  });
  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });

  const start = async (): Promise<void> => {
    server = await startEventStoreDouble({ file, lag: noLag });
    await reopen(true);
  };
  const stop = async (): Promise<void> => {
    await test.close();
    await server.stop();
  };
  const reopen = async (knowsOurs: boolean): Promise<void> => {
    // What knew nothing of others knew nothing of MACs.
    const open = () => openEventStoreLog({ url: server.url, ...(knowsOurs && { ours }) });
    test = knowsOurs ? await SealedLog.open(folder, open) : await SealedLog.unstamped(folder, open);
  };
  const write = (...events: Parameters<typeof writeForeign>[1][]) =>
    writeForeign(
      server.url,
      events.flatMap((given) => given ?? []),
    );
  const verified = () => verifyLog(test.log, { publicKeys: [test.key.publicKey] });
  const sealedStreams = async () =>
    new Set(
      (await test.log.readStream('sealLog-1')).flatMap((event) =>
        sealOf(event).events.map((entry) => entry.split(' ').at(-1)),
      ),
    );

  it('cover ours alone, whatever others wrote before, between and since', async () => {
    const began = Date.now();
    await write(foreignEvents());
    await test.note('document-1', 'a', 'b');
    await write(foreignEvents());
    await test.note('document-2', 'c');
    await test.seal();
    await write(foreignEvents());
    await test.note('document-1', 'd');

    const outcome = await verified();
    expect(outcome).toMatchObject({
      ok: true,
      findings: [],
      events: 3,
      seals: 1,
      unsealed: { events: 1 },
      foreign: { events: 3 * count },
    });
    expect(outcome.foreign.since?.position).toMatch(/^\d{20}$/);
    expect(Math.abs(Date.parse(outcome.foreign.since?.at ?? '') - began)).toBeLessThan(60_000);
    expect(await sealedStreams()).toEqual(new Set(['document-1', 'document-2']));
  });

  it('are found behind any number of theirs', async () => {
    await test.note('document-1', 'a');
    await write(Array.from({ length: 2_100 }, () => intruderIn('orders-1')));
    await test.note('document-1', 'b');
    await test.seal();
    await write(Array.from({ length: 400 }, () => intruderIn('orders-1')));
    await test.note('document-2', 'c');
    await test.seal();

    expect(await verified()).toMatchObject({
      ok: true,
      findings: [],
      events: 3,
      unsealed: { events: 0 },
      foreign: { events: 2_500 },
    });
    expect(await new SealedOrdinals(test.log, new SealArchive(test.log)).head()).toBe(3);
  });

  it('name the streams of ours that others write into, and nothing else of theirs', async () => {
    await test.note('document-1', 'a', 'b');
    await test.note('document-2', 'c');
    await test.seal();
    await write([
      ...foreignEvents(),
      intruderIn('document-1'),
      intruderIn('document-1'),
      intruderIn('document-2'),
      intruderIn('document-9'),
    ]);
    await test.note('document-3', 'd');
    await test.seal();

    const { findings, ...outcome } = await verified();
    expect(outcome).toMatchObject({ ok: false, events: 4, seals: 2, unsealed: { events: 0 } });
    expect(findings).toEqual([
      expect.objectContaining({
        kind: 'foreign',
        stream: 'document-1',
        revision: 2,
        detail: expect.stringContaining('2 events'),
      }),
      expect.objectContaining({
        kind: 'foreign',
        stream: 'document-2',
        revision: 1,
        detail: expect.stringContaining('another program wrote this event'),
      }),
    ]);
  });

  it('take an event of theirs with an id of ours for what it is', async () => {
    await test.note('document-1', 'a');
    const [event] = await test.events();
    await write([{ ...intruderIn('orders-1'), event: jsonEvent({ id: event?.id ?? '', type: 'Theirs', data: {} }) }]);
    await test.note('document-1', 'b');
    await test.seal();
    expect(await verified()).toMatchObject({ ok: true, findings: [], events: 2, foreign: { events: 1 } });
  });

  it('find an event of ours that was changed until it looks like one of theirs', async () => {
    for (const text of ['a', 'b', 'c']) await test.note('document-1', text);
    await test.seal();
    await stop();
    const lines = readFileSync(file, 'utf8').split('\n');
    const changed = lines.map((line) =>
      line.replace(Buffer.from('{"text":"b"}').toString('base64'), Buffer.from('{"text":"z"}').toString('base64')),
    );
    const at = changed.findIndex((line, index) => line !== lines[index]);
    writeFileSync(
      file,
      changed.map((line, index) => (index === at ? line.replace(/"[\w+/=]+"\]\]\]$/, '""]]]') : line)).join('\n'),
    );
    await start();

    expect((await verified()).findings).toEqual([
      expect.objectContaining({ kind: 'changed', ordinal: 2, stream: 'document-1', revision: 1 }),
      expect.objectContaining({ kind: 'foreign', stream: 'document-1', revision: 1 }),
    ]);
  });

  describe('that an earlier version made over everything the server held', () => {
    const earlier = async (): Promise<void> => {
      await test.close();
      await reopen(false);
      await write(movable());
      await test.note('document-1', 'a', 'b');
      await write(movable(), [intruderIn('document-2')]);
      await test.note('document-3', 'c');
      await test.sealAsEarlier();
      await write(movable());
      await test.sealAsEarlier();
      await test.close();
      await reopen(true);
    };

    it('hold, and go on over ours alone', async () => {
      await earlier();
      const sealed = 3 * movable().length + 4;
      expect(await verified()).toMatchObject({
        ok: true,
        findings: [],
        events: sealed,
        seals: 2,
        unsealed: { events: 0 },
        foreign: { events: sealed - 3 },
      });

      await write(movable());
      await test.note('document-4', 'd');
      await test.seal();
      expect(await verified()).toMatchObject({
        ok: true,
        findings: [],
        events: sealed + 2,
        seals: 3,
        lastSeal: { ordinal: sealed + 2 },
        foreign: { events: sealed - 3 + movable().length },
      });
      expect(await new SealedOrdinals(test.log, new SealArchive(test.log)).head()).toBe(sealed + 2);
    });

    it('travel with what they cover, and nothing else of theirs', async () => {
      await earlier();
      await write(movable());
      await test.note('document-4', 'd');
      await write(movable());
      await test.seal();
      const path = join(folder, 'there.jsonl');
      const sealed = 3 * movable().length + 6;
      expect(await exportLog(test.log, path, { publicKey: test.key.publicKey, clock: test.clock })).toEqual({
        events: sealed + 3,
      });
      expect(await verifyExport(path)).toMatchObject({ ok: true, findings: [], events: sealed, seals: 3 });

      const target = await startEventStoreDouble({ lag: noLag });
      const log = await openEventStoreLog({ url: target.url, ours });
      const keys = { publicKeys: [test.key.publicKey] };
      await writeForeign(target.url, [intruderIn('elsewhere-1')]);
      for (let again = 0; again < 2; again += 1)
        expect(await importExport(path, log, keys)).toMatchObject({
          ok: true,
          findings: [],
          events: sealed,
          foreign: { events: sealed - 5 + 1 },
        });
      expect(
        (await log.readAll()).events.map(({ stream }) => stream).filter((stream) => stream !== 'sealLog-1'),
      ).toEqual(['document-1', 'document-1', 'document-3', 'document-4', 'unproven-1']);
      await log.close();
      await target.stop();

      const embedded = await SealedLog.unstamped();
      await expect(importExport(path, embedded.log, { ...keys, ours })).rejects.toMatchObject({
        name: 'ForeignExport',
        message: expect.stringContaining('EventStoreDB'),
      });
      expect(await embedded.log.head()).toBeNull();
      await embedded.close();
      embedded.remove();
    });

    it('still find ours that are gone', async () => {
      await earlier();
      await stop();
      const lines = readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .filter((line) => !line.startsWith('["document-3"'));
      writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
      await start();
      expect((await verified()).findings).toEqual([
        expect.objectContaining({ kind: 'missing', stream: 'document-3', revision: 0 }),
      ]);
    });
  });
});

import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventMacOf, openEventStoreLog } from '@app/event-log';
import type { StoredEvent } from '@app/kernel';
import { SealedLog, SEAL_SECRET, silentLogger } from '../../../test/fixtures/sealed-log';
import { tamper, type TamperedRow } from '../../../test/fixtures/tampering';
import { until } from '../../../test/fixtures/until';
import { startEventStoreDouble } from '../../../test/servers/eventstoredb/double';
import { noLag } from '../../../test/servers/eventstoredb/lag';
import { exportLog } from './export/export-log';
import { importExport } from './export/import-export';
import { sealOf } from './sealed-place';
import { sealKeyOf } from './seal-key';
import { knownUnproven } from './unproven';
import type { KnownSeal, Verification } from './verify/verification';
import { verifyLog } from './verify/verify-stores';

const META = {
  $correlationId: randomUUID(),
  $causationId: randomUUID(),
  commandId: randomUUID(),
  actor: 'user:u1',
  schema: '1',
  recordedAt: '2026-11-23T00:00:00.000Z',
};

/** What somebody with the disk and without the key writes. */
const forged = (
  stream: string,
  revision: number,
  type: string,
  data: object,
  metadata: object = META,
): TamperedRow => ({
  stream,
  revision,
  id: randomUUID(),
  type,
  data: JSON.stringify(data),
  metadata: JSON.stringify(metadata),
});
const isBlanked = ({ stream, revision }: TamperedRow): boolean => stream === 'document-1' && revision < 2;
const receipt = () =>
  forged('removals-1', 0, 'EventsRemoved', { stream: 'document-1', beforeRevision: 2, reason: 'retention' });

/** A log at rest that can be changed as somebody with its disk does. */
interface Disk {
  open(): Promise<SealedLog>;
  /** As an earlier version has it open: nothing it appends carries a MAC. */
  openUnstamped(): Promise<SealedLog>;
  close(test: SealedLog): Promise<void>;
  /** Takes the first two events of document-1 away. */
  blank(): Promise<void>;
  change(change: (rows: TamperedRow[]) => TamperedRow[]): Promise<void>;
  remove(): void;
}

const sqlite = (): Disk => {
  const folder = mkdtempSync(join(tmpdir(), 'forged-'));
  return {
    open: () => SealedLog.open(folder),
    openUnstamped: () => SealedLog.unstamped(folder),
    close: (test) => test.close(),
    change: async (change) => tamper(folder, change),
    blank: async () =>
      tamper(folder, (rows) =>
        rows.map((row) => (isBlanked(row) ? { ...row, type: '', data: '', metadata: '' } : row)),
      ),
    remove: () => rmSync(folder, { recursive: true }),
  };
};

type Line = [
  stream: string,
  created: number,
  isTombstone: boolean,
  events: [id: string, type: string, isJson: boolean, data: string, metadata: string][],
];
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const text = (encoded: string): string => Buffer.from(encoded, 'base64').toString();

/** Its file holds a write in each line, and counts revisions by itself: what is blanked is truncated in the stream's metadata, as removals do. */
const eventStoreDb = (): Disk => {
  const folder = mkdtempSync(join(tmpdir(), 'forged-'));
  const file = join(folder, 'log.jsonl');
  let server: Awaited<ReturnType<typeof startEventStoreDouble>>;
  const openWith = async (open: typeof SealedLog.open): Promise<SealedLog> => {
    server = await startEventStoreDouble({ file, lag: noLag });
    return open.call(SealedLog, folder, () => openEventStoreLog({ url: server.url }));
  };
  const disk: Disk = {
    open: () => openWith(SealedLog.open),
    blank: () => disk.change((rows) => rows.filter((row) => !isBlanked(row))),
    openUnstamped: () => openWith(SealedLog.unstamped),
    close: async (test) => {
      await test.close();
      await server.stop();
    },
    change: async (change) => {
      const lines = readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
      const counts = new Map<string, number>();
      const rows = lines.flatMap(([stream, , , events]) =>
        events.map(([id, type, , data, metadata]) => {
          const revision = counts.get(stream) ?? 0;
          counts.set(stream, revision + 1);
          return { stream, revision, id, type, data: text(data), metadata: text(metadata) };
        }),
      );
      const written = change(rows).map(({ stream, id, type, data, metadata }): Line => [
        stream,
        1_700_000_000_000,
        false,
        [[id, type, true, base64(data), base64(metadata)]],
      ]);
      writeFileSync(file, written.map((line) => `${JSON.stringify(line)}\n`).join(''));
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
  return disk;
};

describe.each([
  ['SQLite', sqlite],
  ['EventStoreDB', eventStoreDb],
] as const)('events that somebody without the key puts into a log on %s', (_store, make) => {
  let disk: Disk;
  beforeEach(() => void (disk = make()));
  afterEach(() => disk.remove());

  const running = async <T>(work: (test: SealedLog) => Promise<T>, open = disk.open): Promise<T> => {
    const test = await open();
    try {
      return await work(test);
    } finally {
      await disk.close(test);
    }
  };
  const verified = (since?: KnownSeal): Promise<Verification> =>
    running((test) => verifyLog(test.log, { publicKeys: [test.key.publicKey], since }));
  /** As the product is started and stopped. */
  const startOnce = (): Promise<void> => running(startSealing);
  const startSealing = async (test: SealedLog): Promise<void> => {
    const sealer = test.newSealer();
    await sealer.start();
    await sealer.caughtUp;
    await until(async () => sealer.waiting === 0);
    await sealer.stop();
    // What a record says is sealed by the next start at the latest.
    const again = test.newSealer();
    await again.start();
    await again.caughtUp;
    await again.stop();
  };
  const sealedIds = (test: SealedLog) =>
    test.log
      .readStream('sealLog-1')
      .then((seals) => seals.flatMap((event) => sealOf(event).events.map((entry) => entry.slice(0, 36))));
  const noted = () =>
    running(async (test) => {
      await test.note('document-1', 'a', 'b', 'c');
      await test.note('document-2', 'd');
      await startSealing(test);
    });

  it('are never sealed, stop nothing behind them, and prove no removal', async () => {
    await noted();
    const { lastSeal } = await verified();
    const [role, removal] = [forged('user-7', 0, 'UserRoleChanged', { role: 'admin' }), receipt()];
    await disk.change((rows) => [...rows, role, removal]);
    expect(await verified()).toMatchObject({
      ok: true,
      unsealed: { events: 2 },
      unproven: [
        { id: role.id, stream: 'user-7', revision: 0 },
        { id: removal.id, stream: 'removals-1' },
      ],
      withoutMacs: { events: 0 },
    });

    await startOnce();
    await running(async (test) => {
      await test.note('document-3', 'good');
      await startSealing(test);
      const ids = await sealedIds(test);
      expect(ids).not.toContain(role.id);
      expect(ids).not.toContain(removal.id);
      expect(ids).toContain((await test.log.readStream('document-3'))[0]?.id);
      expect(await knownUnproven(test.log, test.mac)).toMatchObject({ events: 2 });
    });
    const inserted = [
      expect.objectContaining({ kind: 'inserted', id: role.id }),
      expect.objectContaining({ kind: 'inserted', id: removal.id }),
    ];
    expect(await verified()).toMatchObject({ ok: false, findings: inserted, removals: [] });

    await disk.blank();
    for (const since of [undefined, lastSeal ?? undefined]) {
      const outcome = await verified(since);
      expect(outcome.removals).toEqual([]);
      expect(outcome.findings.filter(({ kind }) => kind === 'missing' || kind === 'changed')).not.toEqual([]);
      expect(outcome.ok).toBe(false);
    }
  });

  it('are not made true by what others appended: copies, other keys, changed ones', async () => {
    await noted();
    const other = eventMacOf('another secret, also long enough to be one');
    await disk.change((rows) => {
      const note = rows.find(({ stream }) => stream === 'document-1') as TamperedRow;
      const stolen = { ...note, stream: 'document-9' };
      const later = { ...note, revision: 3 };
      const signed = {
        ...(other.stamped(
          'document-8',
          [forged('document-8', 0, 'Noted', { text: 'x' })],
          'noStream',
        )[0] as StoredEvent),
        stream: 'document-8',
        revision: 0,
      };
      return [...rows, stolen, later, signed];
    });
    await startOnce();
    await running(async (test) => {
      const { data } = (await test.log.readStream('unproven-1')).at(-1) as StoredEvent;
      expect(JSON.parse(data)).toMatchObject({
        total: 3,
        events: [
          { stream: 'document-9', reason: 'wrong_mac' },
          { stream: 'document-1' },
          { stream: 'document-8', reason: 'wrong_mac' },
        ],
      });
    });
    expect((await verified()).findings.length).toBeGreaterThanOrEqual(3);
  });

  it('are told from the tail of an earlier version, which is sealed once, and an event says so', async () => {
    await running(async (test) => {
      await test.note('document-1', 'a', 'b');
      await test.sealAsEarlier();
      await test.note('document-1', 'c');
      await test.note('document-2', 'd');
    }, disk.openUnstamped);
    expect(await verified()).toMatchObject({
      ok: true,
      events: 2,
      unsealed: { events: 2 },
      withoutMacs: { events: 2, upTo: 2 },
    });
    await startOnce();
    const tail = await running(async (test) => {
      const [said, ...more] = await test.log.readStream('unproven-1');
      expect(more).toEqual([]);
      return said as StoredEvent;
    });
    expect(tail.type).toBe('UnprovenTailSealed');
    expect(JSON.parse(tail.data)).toMatchObject({ after: 2, events: 2, reason: 'earlier_version' });
    expect(await verified()).toMatchObject({
      ok: true,
      findings: [],
      events: 5,
      unsealed: { events: 0 },
      withoutMacs: { events: 4, upTo: 4 },
    });

    const late = forged('document-2', 1, 'Noted', { text: 'late' });
    await disk.change((rows) => [...rows, late]);
    await startOnce();
    expect(await verified()).toMatchObject({
      ok: false,
      findings: [{ kind: 'inserted', id: late.id }],
      withoutMacs: { events: 4 },
    });
  });

  it('are not taken over by pretending that an earlier version wrote the log', async () => {
    await running(async (test) => {
      await test.note('document-1', 'a');
      await test.sealAsEarlier();
    }, disk.openUnstamped);
    await startOnce();
    await running(async (test) => {
      await test.note('document-1', 'b');
      await startSealing(test);
    });
    // Without the event that says where MACs begin, and without the MACs of the seals.
    const late = forged('document-1', 2, 'Noted', { text: 'late' });
    await disk.change((rows) => [
      ...rows
        .filter(({ stream }) => stream !== 'unproven-1')
        .map((row) =>
          row.stream === 'sealLog-1' ? { ...row, metadata: row.metadata.replace(/,"mac":"[^"]*"/, '') } : row,
        ),
      late,
    ]);
    await startOnce();
    const outcome = await verified();
    expect(outcome).toMatchObject({ ok: false, withoutMacs: { events: 1, upTo: 1 } });
    expect(outcome.findings).toContainEqual(expect.objectContaining({ kind: 'inserted', id: late.id }));
    await running(async (test) => expect(await sealedIds(test)).not.toContain(late.id));
  });

  it('are not adopted by a log that begins with this version, sealed or not', async () => {
    await running((test) => test.note('document-1', 'a'));
    const early = forged('document-2', 0, 'Noted', { text: 'early' });
    await disk.change((rows) => [...rows, early]);
    await startOnce();
    expect(await verified()).toMatchObject({
      ok: false,
      findings: [{ kind: 'inserted', id: early.id }],
      withoutMacs: { events: 0 },
    });
  });
});

describe('the tail of an import', () => {
  const OTHER = 'the secret of another instance, long enough to be one';
  let source: SealedLog;
  let target: SealedLog;
  let file: string;
  beforeEach(async () => {
    [source, target] = await Promise.all([SealedLog.open(), SealedLog.unstamped()]);
    file = join(source.folder, 'log.jsonl');
    await source.note('document-1', 'a', 'b');
    await source.seal();
    await source.note('document-1', 'tail');
    await exportLog(source.log, file, { publicKey: source.key.publicKey, clock: source.clock });
  });
  afterEach(async () => {
    await Promise.all([source.close(), target.close()]);
    source.remove();
    target.remove();
  });
  const imported = (secret: string) => {
    const sealing = {
      codec: target.codec,
      clock: target.clock,
      logger: silentLogger,
      key: sealKeyOf(secret),
      mac: eventMacOf(secret),
      delayMs: 1,
    };
    return importExport(file, target.log, { publicKeys: [source.key.publicKey], sealing });
  };
  const said = async () =>
    (await target.log.readStream('unproven-1')).map(({ type, data }) => ({ type, ...(JSON.parse(data) as object) }));

  it('is sealed once under another key, and an event says so', async () => {
    for (let again = 0; again < 2; again += 1)
      expect(await imported(OTHER)).toMatchObject({
        ok: true,
        findings: [],
        events: 4,
        unsealed: { events: 0 },
        withoutMacs: { events: 1, upTo: 3 },
      });
    expect(await said()).toEqual([
      expect.objectContaining({ type: 'UnprovenTailSealed', after: 2, events: 1, reason: 'import' }),
    ]);
    const raw = await SealedLog.unstamped(target.copy());
    await raw.note('document-1', 'forged');
    const [forgery] = await raw.log.readStream('document-1', { from: 3 });
    await raw.close();
    expect(forgery && eventMacOf(OTHER).check(forgery)).toBe('absent');
    raw.remove();
  });

  it('is proven under the same key', async () => {
    expect(await imported(SEAL_SECRET)).toMatchObject({
      ok: true,
      findings: [],
      events: 3,
      unsealed: { events: 0 },
      withoutMacs: { events: 0 },
    });
    expect(await said()).toEqual([]);
  });
});

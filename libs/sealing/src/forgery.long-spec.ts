import { randomUUID } from 'node:crypto';
import { eventMacOf } from '@app/event-log';
import type { StoredEvent } from '@app/kernel';
import { type Disk, eventStoreDb, sqlite } from '../../../test/fixtures/forged-disks';
import { SealedLog } from '../../../test/fixtures/sealed-log';
import type { TamperedRow } from '../../../test/fixtures/tampering';
import { until } from '../../../test/fixtures/until';
import { sealOf } from './sealed-place';
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

const receipt = () =>
  forged('removals-1', 0, 'EventsRemoved', { stream: 'document-1', beforeRevision: 2, reason: 'retention' });

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

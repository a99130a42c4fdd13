import { join } from 'node:path';
import type { EventLog } from '@app/event-log';
import Database from 'better-sqlite3';
import { rowAt, SealedNotes } from '../../../../test/fixtures/sealed-notes';
import { tamper, type TamperedRow } from '../../../../test/fixtures/tampering';
import { knownSealText, parseKnownSeal } from './verification';
import { verifyLog } from './verify-stores';

describe('verify', () => {
  const notes = new SealedNotes();

  it('proves an unaltered log, online and from the stores', async () => {
    const expected = {
      ok: true,
      events: 12,
      seals: 3,
      findings: [],
      unsealed: { events: 0, since: null },
      keyIds: [notes.original.key.keyId],
    };
    const progress: number[] = [];
    expect(await notes.verified({ onProgress: ({ done, total }) => progress.push(done / total) })).toMatchObject(
      expected,
    );
    expect(progress.at(-1)).toBe(1);
    await notes.running(async ({ log }) => {
      expect(await verifyLog(log, notes.keys())).toMatchObject(expected);
      expect(await notes.verified()).toMatchObject(expected);
    });
  });

  it('says what is not sealed yet', async () => {
    await notes.running((test) => test.note('document-1', 'late', 'later'));
    expect(await notes.verified()).toMatchObject({
      ok: true,
      events: 12,
      unsealed: { events: 2, since: '2026-01-01T00:00:00.000Z' },
    });
  });

  it.each(['data', 'metadata', 'type', 'stream', 'id'] as const)('finds one changed character in %s', async (field) => {
    const verification = await notes.afterTampering((rows) => {
      rowAt(rows, 7)[field] = rowAt(rows, 7)[field].replace(/[0-9d]/, (digit) =>
        String.fromCharCode(digit.charCodeAt(0) ^ 1),
      );
      return rows;
    });
    expect(verification.ok).toBe(false);
    expect(verification.findings).toContainEqual(
      expect.objectContaining({ kind: 'changed', ordinal: 6, position: '0000000000000007' }) as unknown,
    );
  });

  it('finds a changed event with its whole place', async () => {
    const { findings } = await notes.afterTampering((rows) =>
      rows.map((row, index) => (index === 6 ? { ...row, data: row.data.replace('round', 'rounds') } : row)),
    );
    expect(findings).toEqual([
      {
        kind: 'changed',
        detail: expect.any(String) as string,
        ordinal: 6,
        stream: 'document-2',
        revision: 1,
        id: notes.idAt(7),
        position: '0000000000000007',
      },
    ]);
  });

  it('finds a bit flipped on the disk, and goes on behind it', async () => {
    const id = notes.idAt(7);
    tamper(notes.folder, (rows) => rows, { flipPosition: 7 });
    const verification = await notes.verified();
    expect(verification.findings).toEqual([
      {
        kind: 'unreadable',
        detail: expect.stringContaining('checksum') as string,
        ordinal: 6,
        stream: 'document-2',
        revision: 1,
        id,
        position: '0000000000000007',
      },
    ]);
    expect(verification.events).toBe(11);
  });

  it('finds a dropped event', async () => {
    const id = notes.idAt(8);
    const { findings, events } = await notes.afterTampering((rows) => rows.filter((_, index) => index !== 7));
    expect(findings).toEqual([
      { kind: 'missing', detail: expect.any(String) as string, ordinal: 7, stream: 'document-3', revision: 1, id },
    ]);
    expect(events).toBe(11);
  });

  it('finds an event emptied without a receipt', async () => {
    const { findings } = await notes.afterTampering((rows) =>
      rows.map((row, index) => (index === 0 ? { ...row, type: '', data: '', metadata: '' } : row)),
    );
    expect(findings).toMatchObject([{ kind: 'missing', ordinal: 1, stream: 'document-1', revision: 0 }]);
  });

  it('finds an inserted event', async () => {
    const { findings } = await notes.afterTampering((rows) =>
      rows.toSpliced(6, 0, { ...rowAt(rows, 1), id: notes.original.ids.next(), stream: 'document-9', revision: 0 }),
    );
    expect(findings).toMatchObject([
      { kind: 'inserted', ordinal: 6, stream: 'document-9', revision: 0, position: '0000000000000007' },
    ]);
  });

  it('finds a copy of an event under its own id', async () => {
    const { findings } = await notes.afterTampering((rows) =>
      rows.toSpliced(6, 0, { ...rowAt(rows, 1), stream: 'document-9', revision: 0 }),
    );
    expect(findings).toMatchObject([{ kind: 'inserted', stream: 'document-9', position: '0000000000000007' }]);
  });

  it('finds an event inserted into a stream of any name, since views read it by its type', async () => {
    const { findings } = await notes.afterTampering((rows) =>
      rows.toSpliced(6, 0, { ...rowAt(rows, 1), id: notes.original.ids.next(), stream: '$document-9', revision: 0 }),
    );
    expect(findings).toMatchObject([
      { kind: 'inserted', ordinal: 6, stream: '$document-9', revision: 0, position: '0000000000000007' },
    ]);
  });

  it('finds two events in the wrong order', async () => {
    const { findings, events } = await notes.afterTampering((rows) =>
      rows.with(6, rowAt(rows, 8)).with(7, rowAt(rows, 7)),
    );
    expect(findings).toMatchObject([
      { kind: 'reordered', ordinal: 7, stream: 'document-3', revision: 1, position: '0000000000000007' },
    ]);
    expect(events).toBe(12);
  });

  it('finds an event moved far away', async () => {
    await notes.running(async (test) => {
      await test.notes(
        'document-4',
        Array.from({ length: 5_000 }, (_, index) => String(index)),
      );
      await test.seal();
    });
    const { findings } = await notes.afterTampering((rows) => [
      ...rows.slice(1, 5_000),
      rowAt(rows, 1),
      ...rows.slice(5_000),
    ]);
    expect(findings).toMatchObject([
      { kind: 'reordered', ordinal: 1, stream: 'document-1', revision: 0, position: '0000000000005000' },
    ]);
  });

  it('finds a cut tail by a seal that was noted before, and only so', async () => {
    const { lastSeal } = await notes.verified();
    const since = parseKnownSeal(knownSealText(lastSeal ?? { ordinal: 0, hash: '' }));
    expect(await notes.afterTampering((rows) => rows, { since })).toMatchObject({ ok: true });
    expect(await notes.afterTampering((rows) => rows.slice(0, 10))).toMatchObject({ ok: true, events: 8 });
    expect(await notes.afterTampering((rows) => rows, { since })).toMatchObject({
      ok: false,
      findings: [{ kind: 'tail_cut', ordinal: 9 }],
    });
  });

  it('says what was lost with a torn tail', async () => {
    await notes.running(async ({ log }) => {
      const torn = Object.assign(Object.create(log) as EventLog, { notice: 'the tail of the log was cut off' });
      expect(await verifyLog(torn, notes.keys())).toMatchObject({
        ok: false,
        findings: [{ kind: 'tail_cut', detail: 'the tail of the log was cut off' }],
        findingsInAll: 1,
      });
    });
  });

  it.each<[string, (rows: TamperedRow[]) => TamperedRow[], object]>([
    [
      'a dropped event',
      (rows) => rows.filter((_, index) => index !== 7),
      { kind: 'missing', ordinal: 7, stream: 'document-3', revision: 1 },
    ],
    ['a cut tail', (rows) => rows.slice(0, 10), { kind: 'tail_cut', ordinal: 9 }],
  ])('finds %s also where the index of streams still has it', async (_, change, finding) => {
    const { lastSeal } = await notes.verified();
    tamper(notes.folder, change, { index: true });
    const { findings, events } = await notes.verified({ since: lastSeal ?? undefined });
    expect(findings).toMatchObject([
      finding,
      { kind: 'unreadable', detail: expect.stringMatching(/the index of streams|was acknowledged/) as unknown },
    ]);
    expect(events).toBeGreaterThan(7);
  });

  it.each([
    ['leads to another event', 'UPDATE places SET position = 2 WHERE position = 5'],
    ['hides the end of a stream', `UPDATE places SET stream = 'document-9', revision = 0 WHERE position = 5`],
  ])('finds an entry of the index of streams that %s', async (_, change) => {
    await notes.verified();
    const database = new Database(join(notes.folder, 'log', 'events.sqlite'));
    database.exec(change);
    database.close();
    expect((await notes.verified()).findings).toMatchObject([
      { kind: 'unreadable', detail: expect.stringContaining('the index of streams') as unknown },
    ]);
  });

  it('finds a log that cannot be opened', async () => {
    tamper(notes.folder, (rows) => rows, { schema: true });
    expect(await notes.verified()).toMatchObject({ ok: false, findings: [{ kind: 'unreadable' }] });
  });
});

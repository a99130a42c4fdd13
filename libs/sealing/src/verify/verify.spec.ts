import type { EventLog } from '@app/event-log';
import { rmSync } from 'node:fs';
import { tamper, type TamperedRow } from '../../../../test/fixtures/tampering';
import { SealedLog, verifyFolder } from '../../../../test/fixtures/sealed-log';
import { removeEvents } from '../removal';
import { SEAL_STREAM } from '../seal';
import { sealKeyOf } from '../seal-key';
import { knownSealText, parseKnownSeal, type Verification } from './verification';
import { verifyLog } from './verify-stores';

describe('verify', () => {
  let original: SealedLog;
  /** A copy of the original `DATA_DIR`. */
  let folder: string;

  /** Three seals over twelve notes in three streams: ordinals 1-4, 5-8, 9-12; positions with the seals between. */
  beforeAll(async () => {
    original = await SealedLog.open();
    for (let round = 0; round < 3; round += 1) {
      for (const stream of ['document-1', 'document-2', 'document-3', 'document-1']) await original.note(stream, `round ${round}`);
      await original.seal();
    }
    await original.close();
  });
  afterAll(() => original.remove());
  beforeEach(() => {
    folder = original.copy();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const keys = () => ({ publicKeys: [original.key.publicKey] });
  /** Changes the file of the log as somebody with access to the disk would, checksums and all. */
  const afterTampering = async (change: (rows: TamperedRow[]) => TamperedRow[], options = {}): Promise<Verification> => {
    tamper(folder, change);
    return verifyFolder(folder, { ...keys(), ...options });
  };
  /** Runs the log for a while. */
  const running = async (work: (test: SealedLog) => Promise<void>): Promise<void> => {
    const test = await SealedLog.open(folder);
    try {
      await work(test);
    } finally {
      await test.close();
    }
  };
  const by = ({ clock }: SealedLog) => ({ actor: 'system:retention', now: clock.now() });
  const at = (rows: TamperedRow[], position: number): TamperedRow => rows[position - 1] as TamperedRow;
  const idAt = (position: number): string => {
    let id = '';
    tamper(folder, (rows) => {
      ({ id } = at(rows, position));
      return rows;
    });
    return id;
  };

  it('proves an unaltered log, online and from the stores', async () => {
    const expected = { ok: true, events: 12, seals: 3, findings: [], unsealed: { events: 0, since: null }, keyIds: [original.key.keyId] };
    const progress: number[] = [];
    expect(await verifyFolder(folder, { ...keys(), onProgress: ({ done, total }) => progress.push(done / total) })).toMatchObject(expected);
    expect(progress.at(-1)).toBe(1);
    await running(async ({ log }) => {
      expect(await verifyLog(log, keys())).toMatchObject(expected);
      expect(await verifyFolder(folder, keys())).toMatchObject(expected);
    });
  });

  it('says what is not sealed yet', async () => {
    await running((test) => test.note('document-1', 'late', 'later'));
    expect(await verifyFolder(folder, keys())).toMatchObject({ ok: true, events: 12, unsealed: { events: 2, since: '2026-01-01T00:00:00.000Z' } });
  });

  it.each(['data', 'metadata', 'type', 'stream', 'id'] as const)('finds one changed character in %s', async (field) => {
    const verification = await afterTampering((rows) => {
      at(rows, 7)[field] = at(rows, 7)[field].replace(/[0-9d]/, (digit) => String.fromCharCode(digit.charCodeAt(0) ^ 1));
      return rows;
    });
    expect(verification.ok).toBe(false);
    expect(verification.findings).toContainEqual(expect.objectContaining({ kind: 'changed', ordinal: 6, position: '0000000000000007' }) as unknown);
  });

  it('finds a changed event with its whole place', async () => {
    const { findings } = await afterTampering((rows) => rows.map((row, index) => (index === 6 ? { ...row, data: row.data.replace('round', 'rounds') } : row)));
    expect(findings).toEqual([{ kind: 'changed', detail: expect.any(String) as string, ordinal: 6, stream: 'document-2', revision: 1, id: idAt(7), position: '0000000000000007' }]);
  });

  it('finds a bit flipped on the disk, and goes on behind it', async () => {
    const id = idAt(7);
    tamper(folder, (rows) => rows, { flipPosition: 7 });
    const verification = await verifyFolder(folder, keys());
    expect(verification.findings).toEqual([{ kind: 'unreadable', detail: expect.stringContaining('checksum') as string, ordinal: 6, stream: 'document-2', revision: 1, id, position: '0000000000000007' }]);
    expect(verification.events).toBe(11);
  });

  it('finds a dropped event', async () => {
    const id = idAt(8);
    const { findings, events } = await afterTampering((rows) => rows.filter((_, index) => index !== 7));
    expect(findings).toEqual([{ kind: 'missing', detail: expect.any(String) as string, ordinal: 7, stream: 'document-3', revision: 1, id }]);
    expect(events).toBe(11);
  });

  it('finds an event emptied without a receipt', async () => {
    const { findings } = await afterTampering((rows) => rows.map((row, index) => (index === 0 ? { ...row, type: '', data: '', metadata: '' } : row)));
    expect(findings).toMatchObject([{ kind: 'missing', ordinal: 1, stream: 'document-1', revision: 0 }]);
  });

  it('finds an inserted event', async () => {
    const { findings } = await afterTampering((rows) => rows.toSpliced(6, 0, { ...at(rows, 1), id: original.ids.next(), stream: 'document-9', revision: 0 }));
    expect(findings).toMatchObject([{ kind: 'inserted', ordinal: 6, stream: 'document-9', revision: 0, position: '0000000000000007' }]);
  });

  it('finds a copy of an event under its own id', async () => {
    const { findings } = await afterTampering((rows) => rows.toSpliced(6, 0, { ...at(rows, 1), stream: 'document-9', revision: 0 }));
    expect(findings).toMatchObject([{ kind: 'inserted', stream: 'document-9', position: '0000000000000007' }]);
  });

  it('finds an event inserted into a stream of any name, since views read it by its type', async () => {
    const { findings } = await afterTampering((rows) => rows.toSpliced(6, 0, { ...at(rows, 1), id: original.ids.next(), stream: '$document-9', revision: 0 }));
    expect(findings).toMatchObject([{ kind: 'inserted', ordinal: 6, stream: '$document-9', revision: 0, position: '0000000000000007' }]);
  });

  it('finds two events in the wrong order', async () => {
    const { findings, events } = await afterTampering((rows) => rows.with(6, at(rows, 8)).with(7, at(rows, 7)));
    expect(findings).toMatchObject([{ kind: 'reordered', ordinal: 7, stream: 'document-3', revision: 1, position: '0000000000000007' }]);
    expect(events).toBe(12);
  });

  it('finds an event moved far away', async () => {
    await running(async (test) => {
      await test.notes('document-4', Array.from({ length: 5_000 }, (_, index) => String(index)));
      await test.seal();
    });
    const { findings } = await afterTampering((rows) => [...rows.slice(1, 5_000), at(rows, 1), ...rows.slice(5_000)]);
    expect(findings).toMatchObject([{ kind: 'reordered', ordinal: 1, stream: 'document-1', revision: 0, position: '0000000000005000' }]);
  });

  it('finds a cut tail by a seal that was noted before, and only so', async () => {
    const { lastSeal } = await verifyFolder(folder, keys());
    const since = parseKnownSeal(knownSealText(lastSeal ?? { ordinal: 0, hash: '' }));
    expect(await afterTampering((rows) => rows, { since })).toMatchObject({ ok: true });
    expect(await afterTampering((rows) => rows.slice(0, 10))).toMatchObject({ ok: true, events: 8 });
    expect(await afterTampering((rows) => rows, { since })).toMatchObject({ ok: false, findings: [{ kind: 'tail_cut', ordinal: 9 }] });
  });

  it('says what was lost with a torn tail', async () => {
    await running(async ({ log }) => {
      const torn = Object.assign(Object.create(log) as EventLog, { notice: 'the tail of the log was cut off' });
      expect(await verifyLog(torn, keys())).toMatchObject({ ok: false, findings: [{ kind: 'tail_cut', detail: 'the tail of the log was cut off' }], findingsInAll: 1 });
    });
  });

  const seals = (rows: TamperedRow[]) => rows.filter(({ stream }) => stream === SEAL_STREAM);

  it('finds a changed seal', async () => {
    const { findings } = await afterTampering((rows) => {
      const [, second] = seals(rows) as [TamperedRow, TamperedRow];
      second.data = second.data.replace(/"at":"2026/, '"at":"2027');
      return rows;
    });
    expect(findings.map(({ kind, ordinal }) => [kind, ordinal])).toEqual([['seal_signature', 8], ['seal_chain', 12]]);
  });

  it('finds a hash exchanged in a seal together with its event', async () => {
    const { findings } = await afterTampering((rows) => {
      const [first, second] = seals(rows) as [TamperedRow, TamperedRow];
      const events = (JSON.parse(first.data) as { events: unknown[] }).events;
      second.data = JSON.stringify({ ...(JSON.parse(second.data) as object), events });
      return rows;
    });
    expect(findings.map(({ kind }) => kind)).toContain('seal_root');
  });

  it('finds a dropped seal, and does not blame the events under it', async () => {
    const { findings } = await afterTampering((rows) => rows.filter((row) => row !== seals(rows)[1]).map((row) => (row.stream === SEAL_STREAM && row.revision === 2 ? { ...row, revision: 1 } : row)));
    expect(findings.map(({ kind, ordinal }) => [kind, ordinal])).toEqual([['seal_chain', 12]]);
  });

  it.each(['id', 'metadata'] as const)('finds one changed character in the %s of a seal, which no other seal is over', async (field) => {
    const { findings } = await afterTampering((rows) => {
      at(rows, 5)[field] = at(rows, 5)[field].replace(/[0-9d]/, (digit) => String.fromCharCode(digit.charCodeAt(0) ^ 1));
      return rows;
    });
    expect(findings).toMatchObject([{ kind: 'changed', ordinal: 4, stream: SEAL_STREAM, revision: 0, position: '0000000000000005' }]);
  });

  it('finds a log without any seal, which proves nothing, unless it is empty', async () => {
    const { ok, findings, unsealed } = await afterTampering((rows) => rows.filter(({ stream }) => stream !== SEAL_STREAM));
    expect([ok, findings, unsealed.events]).toEqual([false, [{ kind: 'seal_missing', detail: expect.any(String) as string }], 12]);
    expect(await afterTampering(() => [])).toMatchObject({ ok: true, events: 0, seals: 0, findings: [] });
  });

  it('finds a seal that cannot be read, and goes on with the next', async () => {
    tamper(folder, (rows) => rows, { flipPosition: 10 });
    const { findings, events, seals: read } = await verifyFolder(folder, keys());
    expect(findings.map(({ kind, ordinal }) => [kind, ordinal])).toEqual([['seal_missing', 5], ['seal_chain', 12], ['seal_unreadable', undefined]]);
    expect([events, read]).toEqual([8, 2]);
  });

  it('finds a chain that somebody signed anew with another key', async () => {
    const forger = sealKeyOf('the secret of somebody else, long enough');
    const { findings, keyIds } = await verifyFolder(folder, { publicKeys: [forger.publicKey] });
    expect(findings).toEqual([expect.objectContaining({ kind: 'seal_key', detail: expect.stringMatching(/^3 seals up to that of ordinal 12 are signed with the key /) as string, stream: SEAL_STREAM, revision: 0 })]);
    expect(keyIds).toEqual([original.key.keyId]);
  });

  it('shows rightful removals with their receipt, and finds the rest of the stream gone without one', async () => {
    const removal = { stream: 'document-1', beforeRevision: 2, reason: 'retention' };
    await running(async (test) => {
      await test.removal(removal);
      await test.removal(removal);
      const [receipt, ...more] = await test.log.readStream('removals-1');
      expect(more).toEqual([]);
      expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, events: 11, removals: [{ ...removal, receiptId: receipt?.id, events: 2 }] });
      await test.log.truncate('document-1', 3);
    });
    expect(await verifyFolder(folder, keys())).toMatchObject({ ok: false, findings: [{ kind: 'missing', stream: 'document-1', revision: 2 }] });
  });

  const retention = { stream: 'document-1', beforeRevision: 4, reason: 'retention' };

  it('says no more in the receipt than the stream had, and removes nothing again', async () => {
    await running(async (test) => {
      const [last] = await test.log.readStream('document-1', { direction: 'backwards', limit: 1 });
      const end = (last?.revision ?? 0) + 1;
      await test.removal({ ...retention, beforeRevision: 1_000_000 });
      await test.removal({ ...retention, beforeRevision: 1_000_000 });
      expect((await test.log.readStream('removals-1')).map(({ data }) => JSON.parse(data) as object)).toEqual([{ ...retention, beforeRevision: end }]);
      expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, removals: [{ events: end }] });
    });
  });

  it('takes no receipt that is not sealed for one', async () => {
    const receipt = { stream: 'removals-1', revision: 0, id: original.ids.next(), type: 'EventsRemoved', data: JSON.stringify(retention), metadata: '{}' };
    const id = idAt(1);
    const forged = await afterTampering((rows) => [...rows.filter(({ stream, revision }) => stream !== 'document-1' || revision >= 4), receipt]);
    const finding = { kind: 'missing', detail: `4 events up to revision 3 were sealed and are gone, without a sealed receipt: no seal knows ${receipt.id}`, ordinal: 1, stream: 'document-1', revision: 0, id };
    expect(forged).toMatchObject({ ok: false, events: 8, unsealed: { events: 1 }, removals: [] });
    expect(forged.findings).toEqual([finding]);
    await running(async ({ log }) => expect(await verifyLog(log, keys())).toMatchObject({ ok: false, findings: [finding] }));
  });

  it('takes no other event for a receipt that is sealed', async () => {
    await running((test) => test.removal({ ...retention, beforeRevision: 1 }));
    const { findings, removals } = await afterTampering((rows) => rows.filter(({ stream, revision }) => stream !== 'document-1' || revision >= 4).map((row) => (row.stream === 'removals-1' ? { ...row, data: JSON.stringify(retention) } : row)));
    expect(findings.map(({ kind, stream }) => [kind, stream])).toEqual([['missing', 'document-1'], ['changed', 'removals-1']]);
    expect(removals).toEqual([]);
  });

  it('proves a removal as soon as it is done, while the log is written', async () => {
    await running(async (test) => {
      const sealer = test.newSealer(50);
      await sealer.start();
      await test.note('document-2', 'meanwhile');
      await removeEvents(test.log, test.codec, retention, by(test));
      expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, findings: [], removals: [{ ...retention, events: 4 }] });
      await sealer.stop();
    });
  });

  it('removes nothing where nobody seals, and goes on when repeated', async () => {
    await running(async (test) => {
      await expect(removeEvents(test.log, test.codec, retention, by(test), { patienceMs: 30 })).rejects.toMatchObject({ name: 'Unavailable', dependency: 'the sealer' });
      expect(await test.log.readStream('document-1')).toHaveLength(6);
      expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, removals: [] });
      await test.removal(retention);
      expect(await test.log.readStream('removals-1')).toHaveLength(1);
      expect(await verifyLog(test.log, keys())).toMatchObject({ ok: true, removals: [{ ...retention, events: 4 }] });
    });
  });

  it.each<[string, (rows: TamperedRow[]) => TamperedRow[], object]>([
    ['a dropped event', (rows) => rows.filter((_, index) => index !== 7), { kind: 'missing', ordinal: 7, stream: 'document-3', revision: 1 }],
    ['a cut tail', (rows) => rows.slice(0, 10), { kind: 'tail_cut', ordinal: 9 }],
  ])('finds %s also where the index of streams still has it', async (_, change, finding) => {
    const { lastSeal } = await verifyFolder(folder, keys());
    tamper(folder, change, { index: true });
    const { findings, events } = await verifyFolder(folder, { ...keys(), since: lastSeal ?? undefined });
    expect(findings).toMatchObject([finding, { kind: 'unreadable', detail: expect.stringMatching(/the index of streams|was acknowledged/) as unknown }]);
    expect(events).toBeGreaterThan(7);
  });

  it('finds a log that cannot be opened', async () => {
    tamper(folder, (rows) => rows, { schema: true });
    expect(await verifyFolder(folder, keys())).toMatchObject({ ok: false, findings: [{ kind: 'unreadable' }] });
  });
});

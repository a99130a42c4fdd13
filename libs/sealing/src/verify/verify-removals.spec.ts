import { SealedNotes } from '../../../../test/fixtures/sealed-notes';
import { removeEvents } from '../removal';
import { verifyLog } from './verify-stores';

describe('verify, of removals', () => {
  const notes = new SealedNotes();

  it('shows rightful removals with their receipt, and finds the rest of the stream gone without one', async () => {
    const removal = { stream: 'document-1', beforeRevision: 2, reason: 'retention' };
    await notes.running(async (test) => {
      await test.removal(removal);
      await test.removal(removal);
      const [receipt, ...more] = await test.log.readStream('removals-1');
      expect(more).toEqual([]);
      expect(await verifyLog(test.log, notes.keys())).toMatchObject({
        ok: true,
        events: 11,
        removals: [{ ...removal, receiptId: receipt?.id, events: 2 }],
      });
      await test.log.truncate('document-1', 3);
    });
    expect(await notes.verified()).toMatchObject({
      ok: false,
      findings: [{ kind: 'missing', stream: 'document-1', revision: 2 }],
    });
  });

  const retention = { stream: 'document-1', beforeRevision: 4, reason: 'retention' };

  it('says no more in the receipt than the stream had, and removes nothing again', async () => {
    await notes.running(async (test) => {
      const [last] = await test.log.readStream('document-1', { direction: 'backwards', limit: 1 });
      const end = (last?.revision ?? 0) + 1;
      await test.removal({ ...retention, beforeRevision: 1_000_000 });
      await test.removal({ ...retention, beforeRevision: 1_000_000 });
      expect((await test.log.readStream('removals-1')).map(({ data }) => JSON.parse(data) as object)).toEqual([
        { ...retention, beforeRevision: end },
      ]);
      expect(await verifyLog(test.log, notes.keys())).toMatchObject({ ok: true, removals: [{ events: end }] });
    });
  });

  it('takes no receipt that is not sealed for one', async () => {
    const receipt = {
      stream: 'removals-1',
      revision: 0,
      id: notes.original.ids.next(),
      type: 'EventsRemoved',
      data: JSON.stringify(retention),
      metadata: '{}',
    };
    const id = notes.idAt(1);
    const forged = await notes.afterTampering((rows) => [
      ...rows.filter(({ stream, revision }) => stream !== 'document-1' || revision >= 4),
      receipt,
    ]);
    const finding = {
      kind: 'missing',
      detail: `4 events up to revision 3 were sealed and are gone, without a sealed receipt: no seal lists ${receipt.id}`,
      ordinal: 1,
      stream: 'document-1',
      revision: 0,
      id,
    };
    expect(forged).toMatchObject({ ok: false, events: 8, unsealed: { events: 1 }, removals: [] });
    expect(forged.findings).toEqual([finding]);
    await notes.running(async ({ log }) =>
      expect(await verifyLog(log, notes.keys())).toMatchObject({ ok: false, findings: [finding] }),
    );
  });

  it('takes no other event for a receipt that is sealed', async () => {
    await notes.running((test) => test.removal({ ...retention, beforeRevision: 1 }));
    const { findings, removals } = await notes.afterTampering((rows) =>
      rows
        .filter(({ stream, revision }) => stream !== 'document-1' || revision >= 4)
        .map((row) => (row.stream === 'removals-1' ? { ...row, data: JSON.stringify(retention) } : row)),
    );
    expect(findings.map(({ kind, stream }) => [kind, stream])).toEqual([
      ['missing', 'document-1'],
      ['changed', 'removals-1'],
    ]);
    expect(removals).toEqual([]);
  });

  it('proves a removal as soon as it is done, while the log is written', async () => {
    await notes.running(async (test) => {
      const sealer = test.newSealer({ delayMs: 50 });
      await sealer.start();
      await test.note('document-2', 'meanwhile');
      await removeEvents(test.log, test.decisions, retention, { actor: 'system:retention', now: test.clock.now() });
      expect(await verifyLog(test.log, notes.keys())).toMatchObject({
        ok: true,
        findings: [],
        removals: [{ ...retention, events: 4 }],
      });
      await sealer.stop();
    });
  });

  it('removes nothing where nobody seals, and goes on when repeated', async () => {
    await notes.running(async (test) => {
      await expect(
        removeEvents(
          test.log,
          test.decisions,
          retention,
          { actor: 'system:retention', now: test.clock.now() },
          { timeoutMs: 30 },
        ),
      ).rejects.toMatchObject({ name: 'Unavailable', dependency: 'the sealer' });
      expect(await test.log.readStream('document-1')).toHaveLength(6);
      expect(await verifyLog(test.log, notes.keys())).toMatchObject({ ok: true, removals: [] });
      await test.removal(retention);
      expect(await test.log.readStream('removals-1')).toHaveLength(1);
      expect(await verifyLog(test.log, notes.keys())).toMatchObject({
        ok: true,
        removals: [{ ...retention, events: 4 }],
      });
    });
  });
});

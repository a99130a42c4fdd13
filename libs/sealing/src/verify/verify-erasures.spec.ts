import { randomUUID } from 'node:crypto';
import { SealedNotes } from '../../../../test/fixtures/sealed-notes';
import type { TamperedRow } from '../../../../test/fixtures/tampering';

describe('verify, of receipts of erasures', () => {
  const notes = new SealedNotes();

  it('counts those under a seal, and none that somebody wrote into the store', async () => {
    await notes.running(async (test) => {
      const data = JSON.stringify({ things: ['document-2'] });
      const receipt = { id: randomUUID(), type: 'ContentErased', data, metadata: '{"actor":"system:erase-content"}' };
      await test.log.append('erasure-1', [receipt], 'noStream');
      await test.seal();
    });
    const forged = (rows: TamperedRow[]): TamperedRow => {
      const receipt = rows.find(({ type }) => type === 'ContentErased') as TamperedRow;
      return { ...receipt, id: randomUUID(), stream: 'erasure-2' };
    };
    const expected = { erasuresInAll: 1, erasures: [{ stream: 'erasure-1', receipt: { things: ['document-2'] } }] };
    expect(await notes.verified()).toMatchObject({ ok: true, ...expected });
    expect(await notes.afterTampering((rows) => [...rows, forged(rows)])).toMatchObject({ ok: true, ...expected });
    const { findings, ...found } = await notes.afterTampering((rows) => [
      ...rows.slice(0, 8),
      { ...forged(rows), stream: 'erasure-3' },
      ...rows.slice(8),
    ]);
    expect(findings).toMatchObject([{ kind: 'inserted', stream: 'erasure-3' }]);
    expect(found).toMatchObject(expected);
  });
});

import { join } from 'node:path';
import { openSqliteLogReader } from '@app/event-log';
import { verifyFolder } from '../../../../test/fixtures/sealed-log';
import { rowAt, SealedNotes } from '../../../../test/fixtures/sealed-notes';
import { tamper, type TamperedRow } from '../../../../test/fixtures/tampering';
import { SEAL_STREAM } from '../event-hash';
import { readSealedPlace } from '../sealed-place';
import { sealKeyOf } from '../seal-key';

describe('verify, of seals', () => {
  const notes = new SealedNotes();

  const seals = (rows: TamperedRow[]) => rows.filter(({ stream }) => stream === SEAL_STREAM);

  it('finds a changed seal', async () => {
    const { findings } = await notes.afterTampering((rows) => {
      const [, second] = seals(rows) as [TamperedRow, TamperedRow];
      second.data = second.data.replace(/"at":"2026/, '"at":"2027');
      return rows;
    });
    expect(findings.map(({ kind, ordinal }) => [kind, ordinal])).toEqual([
      ['seal_signature', 8],
      ['seal_chain', 12],
    ]);
  });

  it.each(['{}', 'null', '{broken'])('finds a last seal that is none (%s), and the sealer says where', async (data) => {
    const { findings } = await notes.afterTampering((rows) => {
      (seals(rows).at(-1) as TamperedRow).data = data;
      return rows;
    });
    expect(findings).toContainEqual(expect.objectContaining({ stream: SEAL_STREAM, revision: 2 }));
    const log = await openSqliteLogReader({ folder: join(notes.folder, 'log') });
    await expect(readSealedPlace(log)).rejects.toThrow('the log is damaged at sealLog-1@2: it is no seal');
    await log.close();
  });

  it('finds a hash exchanged in a seal together with its event', async () => {
    const { findings } = await notes.afterTampering((rows) => {
      const [first, second] = seals(rows) as [TamperedRow, TamperedRow];
      const events = (JSON.parse(first.data) as { events: unknown[] }).events;
      second.data = JSON.stringify({ ...(JSON.parse(second.data) as object), events });
      return rows;
    });
    expect(findings.map(({ kind }) => kind)).toContain('seal_root');
  });

  it('finds a dropped seal, and does not blame the events under it', async () => {
    const { findings } = await notes.afterTampering((rows) =>
      rows
        .filter((row) => row !== seals(rows)[1])
        .map((row) => (row.stream === SEAL_STREAM && row.revision === 2 ? { ...row, revision: 1 } : row)),
    );
    expect(findings.map(({ kind, ordinal }) => [kind, ordinal])).toEqual([['seal_chain', 12]]);
  });

  it.each(['id', 'metadata'] as const)(
    'finds one changed character in the %s of a seal, which no other seal is over',
    async (field) => {
      const { findings } = await notes.afterTampering((rows) => {
        rowAt(rows, 5)[field] = rowAt(rows, 5)[field].replace(/[0-9d]/, (digit) =>
          String.fromCharCode(digit.charCodeAt(0) ^ 1),
        );
        return rows;
      });
      expect(findings).toMatchObject([
        { kind: 'changed', ordinal: 4, stream: SEAL_STREAM, revision: 0, position: '0000000000000005' },
      ]);
    },
  );

  it('finds a log without any seal, which proves nothing, unless it is empty', async () => {
    const { ok, findings, unsealed } = await notes.afterTampering((rows) =>
      rows.filter(({ stream }) => stream !== SEAL_STREAM),
    );
    expect([ok, findings, unsealed.events]).toEqual([
      false,
      [{ kind: 'seal_missing', detail: expect.any(String) as string }],
      12,
    ]);
    expect(await notes.afterTampering(() => [])).toMatchObject({ ok: true, events: 0, seals: 0, findings: [] });
  });

  it('finds a seal that cannot be read, and goes on with the next', async () => {
    tamper(notes.folder, (rows) => rows, { flipPosition: 10 });
    const { findings, events, seals: read } = await notes.verified();
    expect(findings.map(({ kind, ordinal }) => [kind, ordinal])).toEqual([
      ['seal_missing', 5],
      ['seal_chain', 12],
      ['seal_unreadable', undefined],
    ]);
    expect([events, read]).toEqual([8, 2]);
  });

  it('finds a chain that somebody signed anew with another key', async () => {
    const forger = sealKeyOf('the secret of somebody else, long enough');
    const { findings, keyIds } = await verifyFolder(notes.folder, { publicKeys: [forger.publicKey] });
    expect(findings).toEqual([
      expect.objectContaining({
        kind: 'seal_key',
        detail: expect.stringMatching(/^3 seals up to that of ordinal 12 are signed with the key /) as string,
        stream: SEAL_STREAM,
        revision: 0,
      }),
    ]);
    expect(keyIds).toEqual([notes.original.key.keyId]);
  });
});

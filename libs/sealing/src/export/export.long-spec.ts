import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { EventLog } from '@app/event-log';
import { fillWith, tinyFileSystem } from '../../../../test/faults/log/small-disk';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { importExport } from '../../../../test/fixtures/import-export';
import { SealedLog } from '../../../../test/fixtures/sealed-log';
import { forgeRemoval } from '../../../../test/fixtures/tampering';
import { sealKeyOf } from '../seal-key';
import { verifyLog } from '../verify/verify-stores';
import { exportLog } from './export-log';
import { verifyExport } from './verify-export';

describe('an export', () => {
  let test: SealedLog;
  let folder: string;
  let original: string;
  let file: string;
  const options = () => ({ publicKey: test.key.publicKey, clock: new FixedClock() });

  /** Four sealed notes, three of which were removed, the receipts, and two that are not sealed. Line 1 is the header. */
  beforeAll(async () => {
    test = await SealedLog.open();
    folder = mkdtempSync(join(tmpdir(), 'export-'));
    await test.note('document-1', 'a', 'b\u2028c "quoted"');
    await test.note('document-2', 'd', 'e');
    await test.seal();
    await test.removal({ stream: 'document-1', beforeRevision: 1, reason: 'retention' });
    await test.removal({ stream: 'document-2', beforeRevision: 2, reason: 'retention' });
    await test.note('document-3', 'f', 'g');
    const path = join(folder, 'original.jsonl');
    await exportLog(test.log, path, options());
    original = readFileSync(path, 'utf8');
  });
  afterAll(async () => {
    await test.close();
    test.remove();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    file = join(folder, 'export.jsonl');
  });

  const lines = () => original.trimEnd().split('\n');
  const withLines = (change: (lines: string[]) => string[]) => writeFileSync(file, `${change(lines()).join('\n')}\n`);

  it('names its file where the disk is full, and leaves nothing there', async () => {
    const disk = tinyFileSystem(folder);
    if (disk === undefined) return console.warn('not run, since this machine does not allow a small file system');
    try {
      fillWith(disk.ballast);
      for (const path of [`${disk.folder}.ndjson`, `${disk.folder}.ndjson.gz`]) {
        await expect(exportLog(test.log, path, options())).rejects.toThrow(`${path} cannot be written: ENOSPC`);
        expect(readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)))).toEqual([]);
      }
    } finally {
      disk.dispose();
    }
  });

  it('is proven by the file alone, plain or gzipped', async () => {
    const progress: number[] = [];
    for (const name of ['whole.jsonl', 'whole.jsonl.gz']) {
      const path = join(folder, name);
      expect(
        await exportLog(test.log, path, { ...options(), onProgress: ({ done, total }) => progress.push(done / total) }),
      ).toEqual({ events: 8 });
      const verification = await verifyExport(path);
      expect(verification).toMatchObject({
        ok: true,
        events: 3,
        seals: 3,
        trustsFile: true,
        publicKey: test.key.publicKey,
        unsealed: { events: 2 },
        findings: [],
      });
      expect(verification.removals.map(({ stream, events }) => [stream, events])).toEqual([
        ['document-1', 1],
        ['document-2', 2],
      ]);
      expect(await verifyExport(path, { publicKeys: [test.key.publicKey] })).toMatchObject({
        ok: true,
        trustsFile: false,
      });
    }
    expect(gunzipSync(readFileSync(join(folder, 'whole.jsonl.gz'))).toString()).toBe(
      readFileSync(join(folder, 'whole.jsonl'), 'utf8'),
    );
    expect(progress.at(-1)).toBe(1);
  });

  it('is written whole where several are at the same time, and through no link that others have put there', async () => {
    const victim = join(folder, 'victim');
    const path = join(folder, 'shared.jsonl');
    writeFileSync(victim, 'mine');
    symlinkSync(victim, `${path}.unfinished`);
    await Promise.all([1, 2, 3].map(() => exportLog(test.log, path, options())));
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    expect((await verifyExport(path, { publicKeys: [test.key.publicKey] })).findings).toEqual([]);
  });

  it('leaves nothing half written under its name', async () => {
    const breaking = {
      ...test.log,
      head: () => test.log.head(),
      readStream: () => Promise.reject(new Error('the disk is gone')),
      readAll: () => Promise.reject(new Error('the disk is gone')),
      close: () => test.log.close(),
    };
    await expect(exportLog(breaking, join(folder, 'broken.jsonl'), options())).rejects.toThrow('the disk is gone');
    expect(readdirSync(folder).filter((name) => name.startsWith('broken'))).toEqual([]);
  });

  it('finds every flipped bit of the file', async () => {
    const bytes = Buffer.from(original);
    for (let place = 0; place < bytes.length; place += 97) {
      writeFileSync(file, bytes.with(place, (bytes[place] as number) ^ (1 << (place % 8))));
      expect((await verifyExport(file, { publicKeys: [test.key.publicKey] })).ok).toBe(false);
    }
  });

  const eventAt = (line: number) =>
    JSON.parse(lines()[line - 1] ?? '') as { stream: string; revision: number; id: string; position: string };
  const placeOf = ({ stream, revision, id, position }: ReturnType<typeof eventAt>) => ({
    stream,
    revision,
    id,
    position,
  });

  it('tells the place of a changed, dropped, inserted and moved event', async () => {
    const kept = eventAt(3);
    expect(kept).toMatchObject({ stream: 'document-1', revision: 1 });
    withLines((all) => all.with(2, (all[2] ?? '').replace('quoted', 'Quoted')));
    expect((await verifyExport(file)).findings.at(-1)).toMatchObject({ kind: 'changed', ordinal: 2, ...placeOf(kept) });
    withLines((all) => all.toSpliced(2, 1));
    expect((await verifyExport(file)).findings).toContainEqual(
      expect.objectContaining({ kind: 'missing', ordinal: 2, id: kept.id }) as unknown,
    );
    withLines((all) =>
      all.toSpliced(2, 0, (all[2] ?? '').replace(kept.id, test.ids.next()).replace('document-1', 'document-9')),
    );
    expect((await verifyExport(file)).findings).toContainEqual(
      expect.objectContaining({ kind: 'inserted', stream: 'document-9', revision: 1 }) as unknown,
    );
    withLines((all) => all.with(4, all[6] ?? '').with(6, all[4] ?? ''));
    expect((await verifyExport(file)).findings).toContainEqual(
      expect.objectContaining({ kind: 'reordered' }) as unknown,
    );
    withLines((all) => all.with(2, 'no JSON'));
    expect((await verifyExport(file)).findings).toContainEqual(
      expect.objectContaining({ kind: 'unreadable', ordinal: 2, id: kept.id }) as unknown,
    );
  });

  it('takes no line that is longer than any event, and copies none again with each of its pieces', async () => {
    writeFileSync(file, original);
    appendFileSync(file, Buffer.alloc(65 * 1024 * 1024, 'a'));
    const concat = jest.spyOn(Buffer, 'concat');
    try {
      const { events, findings } = await verifyExport(file, { publicKeys: [test.key.publicKey] });
      expect([events, findings.map(({ detail }) => detail)]).toEqual([
        3,
        [
          'the file was changed: it has no footer: it was cut off',
          `line ${lines().length + 1} of the file cannot be read`,
        ],
      ]);
      const copied = concat.mock.results.map(({ value }) => (value as Buffer).length);
      expect(copied.reduce((sum, each) => sum + each, 0)).toBeLessThan(4 * 1024 * 1024);
    } finally {
      concat.mockRestore();
    }
  });

  it('tells the line and the place of lines that were swapped, of seals and of what is not sealed too', async () => {
    const last = lines().length - 1;
    for (let line = 2; line + 1 <= last; line += 1) {
      const [one, other] = [lines()[line - 1] ?? '', lines()[line] ?? ''];
      if (!one.startsWith('{"stream"') || !other.startsWith('{"stream"')) continue;
      withLines((all) => all.with(line - 1, other).with(line, one));
      expect((await verifyExport(file)).findings).toContainEqual({
        kind: 'file',
        detail: `line ${line + 1} follows one of a later position`,
        ...placeOf(eventAt(line)),
      });
    }
  });

  it('finds events gone that only an unsealed receipt explains, though the file fits its footer', async () => {
    const { stream, revision, id } = eventAt(3);
    withLines((all) => all);
    const receipt = forgeRemoval(file, stream);

    const verification = await verifyExport(file, { publicKeys: [test.key.publicKey] });

    expect(verification.findings).toEqual([
      {
        kind: 'missing',
        detail: `the event was sealed and is gone, without a sealed receipt: no seal lists ${receipt}`,
        ordinal: 2,
        stream,
        revision,
        id,
      },
    ]);
    expect(verification).toMatchObject({ ok: false, events: 2, unsealed: { events: 3 } });
    expect(verification.removals.map(({ stream, beforeRevision, events }) => [stream, beforeRevision, events])).toEqual(
      [
        ['document-1', 1, 1],
        ['document-2', 2, 2],
      ],
    );
  });

  it('finds a cut file, a broken gzip, another key, and a seal that is known and gone', async () => {
    withLines((all) => all.slice(0, -3));
    expect((await verifyExport(file)).findings).toMatchObject([
      { kind: 'file', detail: expect.stringContaining('cut off') as string },
    ]);
    writeFileSync(`${file}.gz`, gzipSync(original).subarray(0, 300));
    expect((await verifyExport(`${file}.gz`)).findings.map(({ kind }) => kind)).toContain('file');
    withLines((all) => all);
    const stranger = sealKeyOf('the secret of somebody else, long enough').publicKey;
    expect((await verifyExport(file, { publicKeys: [stranger] })).findings.map(({ kind }) => kind)).toEqual([
      'seal_key',
    ]);
    expect(
      (await verifyExport(file, { since: { ordinal: 9, hash: 'f'.repeat(64) } })).findings.map(({ kind }) => kind),
    ).toEqual(['tail_cut']);
    await expect(verifyExport(join(folder, 'nothing.jsonl'))).rejects.toThrow('ENOENT');
  });

  describe('brought into another log', () => {
    let other: SealedLog;
    beforeEach(async () => {
      other = await SealedLog.unstamped();
      withLines((all) => all);
    });
    afterEach(async () => {
      await other.close();
      other.remove();
    });
    const keys = () => ({ publicKeys: [test.key.publicKey] });
    const exported = async (log: SealedLog) => (await log.events()).map((event) => ({ ...event, position: '' }));

    it('gives the same events at the same revisions, under the same seals', async () => {
      expect(await importExport(file, other.log, keys())).toMatchObject({
        ok: true,
        events: 3,
        seals: 3,
        findings: [],
      });
      expect(await exported(other)).toEqual(await exported(test));
      await other.note('document-2', 'next');
      expect((await other.log.readStream('document-2')).map(({ revision }) => revision)).toEqual([2]);
    });

    it('goes on where it was interrupted, and repeats nothing', async () => {
      for (const appends of [0, 1, 2, 2]) {
        let left = appends;
        const dying = new Proxy(other.log, {
          get: (target, name: keyof EventLog) => {
            const value: unknown = target[name];
            if (name !== 'append') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
            return (...given: Parameters<EventLog['append']>) =>
              left-- > 0 ? target.append(...given) : Promise.reject(new Error('died'));
          },
        });
        await expect(importExport(file, dying, keys())).rejects.toThrow('died');
      }
      expect(await importExport(file, other.log, keys())).toMatchObject({ ok: true, events: 3 });
      expect(await importExport(file, other.log, keys())).toMatchObject({ ok: true, events: 3 });
      expect(await exported(other)).toEqual(await exported(test));
      expect(await verifyLog(other.log, keys())).toMatchObject({ ok: true });
    });

    it('rejects a log that holds something else, and a damaged file, before it writes', async () => {
      await other.note('document-1', 'mine');
      await expect(importExport(file, other.log, keys())).rejects.toMatchObject({ name: 'LogDiffers' });
      withLines((all) => all.slice(0, -1));
      await expect(importExport(file, other.log, keys())).rejects.toMatchObject({ name: 'ExportDamaged' });
      expect(await other.events()).toHaveLength(1);
    });
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importExport } from '../../../../test/fixtures/import-export';
import { IntermittentServer } from '../../../../test/fixtures/intermittent-server';
import { SealedLog } from '../../../../test/fixtures/sealed-log';
import { exportLog } from './export-log';

describe('a log that goes away', () => {
  let folder: string;
  let file: string;
  let source: SealedLog;
  let target: SealedLog;
  const options = () => ({ publicKey: source.key.publicKey, clock: source.clock });
  const keys = () => ({ publicKeys: [source.key.publicKey] });
  const content = async (log: SealedLog) => (await log.events()).map((event) => ({ ...event, position: '' }));

  /** Notes between many streams, so that hardly any two can be appended together; of one stream the beginning is removed. */
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'away-'));
    file = join(folder, 'log.jsonl');
    [source, target] = await Promise.all([SealedLog.open(), SealedLog.unstamped()]);
    for (let first = 0; first < 700; first += 35)
      await Promise.all(
        Array.from({ length: 35 }, (_, stream) => source.note(`document-${stream}`, `note ${first + stream}`)),
      );
    await source.seal();
    await source.removal({ stream: 'document-2', beforeRevision: 5, reason: 'retention' });
  });
  afterEach(async () => {
    await Promise.all([source.close(), target.close()]);
    for (const log of [source, target]) log.remove();
    rmSync(folder, { recursive: true });
  });

  it('is waited for by an import, whose every event comes once and in its place', async () => {
    await exportLog(source.log, file, options());
    // At the first call, in the middle, at the removal and in the verification.
    const server = new IntermittentServer(new Set([1, 2, 303, 304, 703, 704, 705, 706]));
    const log = server.of(target.log, ['append', 'readAll', 'readStream', 'truncate', 'head']);

    const outcome = await importExport(file, log, { ...keys(), warn: server.warn });

    expect(outcome).toMatchObject({ ok: true, findings: [] });
    expect(await content(target)).toEqual(await content(source));
    expect(server.waited).toBeGreaterThanOrEqual(5);
  });

  it('is waited for by an export, which holds every event once', async () => {
    const server = new IntermittentServer(new Set([1, 2, 4]));

    await exportLog(server.of(source.log, ['readAll', 'readStream', 'head']), file, {
      ...options(),
      warn: server.warn,
    });

    expect(server.waited).toBe(3);
    expect(await importExport(file, target.log, keys())).toMatchObject({ ok: true, findings: [] });
    expect(await content(target)).toEqual(await content(source));
  });

  it('is not waited for longer than is allowed, and an import that is begun again goes on where it was', async () => {
    await exportLog(source.log, file, options());
    const server = new IntermittentServer(new Set([400]));

    await expect(
      importExport(file, server.of(target.log, ['append', 'readAll']), { ...keys(), timeoutMs: 0 }),
    ).rejects.toMatchObject({ name: 'Unavailable' });

    expect(await importExport(file, target.log, keys())).toMatchObject({ ok: true, findings: [] });
    expect(await content(target)).toEqual(await content(source));
  });
});

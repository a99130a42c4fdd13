import { join } from 'node:path';
import { eventMacOf } from '@app/event-log';
import { importExport } from '../../../test/fixtures/import-export';
import { SealedLog, SEAL_SECRET, silentLogger } from '../../../test/fixtures/sealed-log';
import { exportLog } from './export/export-log';
import { sealKeyOf } from './seal-key';

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

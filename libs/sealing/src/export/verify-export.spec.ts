import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { SealedLog } from '../../../../test/fixtures/sealed-log';
import { exportLog } from './export-log';
import { verifyExport } from './verify-export';

describe('an export whose lines somebody changed, under a footer that fits', () => {
  let test: SealedLog;
  let folder: string;
  let file: string;
  let lines: readonly string[];

  /** Two sealed notes and one that is not. Line 1 is the header. */
  beforeAll(async () => {
    test = await SealedLog.open();
    folder = mkdtempSync(join(tmpdir(), 'export-'));
    await test.note('document-1', 'a', 'b');
    await test.seal();
    await test.note('document-2', 'c');
    file = join(folder, 'export.jsonl');
    await exportLog(test.log, file, { publicKey: test.key.publicKey, clock: new FixedClock() });
    lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  });
  afterAll(async () => {
    await test.close();
    test.remove();
    rmSync(folder, { recursive: true });
  });

  const verified = (changed: readonly string[]) => {
    const rest = changed.slice(0, -1);
    const events = rest.filter((line) => line.startsWith('{"stream":')).length;
    const sha256 = createHash('sha256')
      .update(`${rest.join('\n')}\n`)
      .digest('hex');
    writeFileSync(file, `${[...rest, JSON.stringify({ footer: { events, sha256 } })].join('\n')}\n`);
    return verifyExport(file, { publicKeys: [test.key.publicKey] });
  };

  it('is sound as it was', async () => expect(await verified(lines)).toMatchObject({ ok: true, events: 2 }));

  it.each([
    ['no JSON', () => 'no JSON'],
    ['no event', () => '{"stream":1}'],
    ['a second header', () => lines[0]],
    ['a second footer', () => lines.at(-1)],
  ])('has a finding for a line that is %s, though no event is lost', async (_, stray) => {
    expect(await verified(lines.toSpliced(2, 0, stray() ?? ''))).toMatchObject({
      ok: false,
      events: 2,
      findings: [{ kind: 'file', detail: 'line 3 belongs to no export' }],
      findingsInAll: 1,
    });
  });

  it('has one finding for an event that stands too early, and none for all behind it', async () => {
    const late = lines.findLastIndex((line) => line.startsWith('{"stream":'));
    const { findings } = await verified(lines.toSpliced(late, 1).toSpliced(1, 0, lines[late] ?? ''));
    expect(findings.filter(({ detail }) => detail.includes('follows one'))).toMatchObject([
      { kind: 'file', detail: 'line 3 follows one of a later position' },
    ]);
  });
});

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';
import { operatorOn } from './on-stores';

const KEYS = { VAULT_KEY: 'the vault key of a test of verifying', SEAL_KEY: 'the seal key of a test of verifying' };

let root: string;
let platform: TestPlatform;
let stores: Readonly<Record<string, string>>;
let server: Readonly<Record<string, string>>;
let exported: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'verifying-'));
  platform = await startTestPlatform({ environment: KEYS, listen: true });
  await platform.call('/api/v1/core/spaces', { method: 'POST', body: { name: 'Sealed' } });
  await until(() => platform.platform.host.sealer.waiting === 0, 'the seal');
  stores = { DATA_DIR: platform.dataDir };
  server = { PLATFORM_URL: platform.url, PLATFORM_API_KEY: ADMIN_KEY };
  exported = join(root, 'log.jsonl');
  expect((await operatorOn({ ...stores, ...KEYS }, 'export', exported)).code).toBe(0);
});
afterAll(async () => {
  await platform.stop();
  rmSync(root, { recursive: true });
});

const firstLine = (out: string): string | undefined => out.split('\n')[0];

describe('what is verified', () => {
  it('is said in the first line: the stores that are named before the server of PLATFORM_URL, the option --url before both, a file before all', async () => {
    const ofStores = await operatorOn({ ...stores, ...server, ...KEYS }, 'verify');
    expect([ofStores.code, firstLine(ofStores.out)]).toEqual([0, `Verifying the log in ${platform.dataDir}`]);
    const ofServer = await operatorOn({ ...server, DATA_DIR: '' }, 'verify');
    expect([ofServer.code, firstLine(ofServer.out)]).toEqual([0, `Verifying the log of the server ${platform.url}`]);
    const ofOption = await operatorOn(
      { ...stores, ...server, PLATFORM_URL: 'http://127.0.0.1:1' },
      'verify',
      '--url',
      platform.url,
    );
    expect([ofOption.code, firstLine(ofOption.out)]).toEqual([0, `Verifying the log of the server ${platform.url}`]);
    const ofFile = await operatorOn({ ...stores, ...server }, 'verify', exported);
    expect([ofFile.code, firstLine(ofFile.out)]).toEqual([0, `Verifying the export ${exported}`]);
  });

  it('is said in the document of --json, too', async () => {
    const { out } = await operatorOn({ ...stores, ...KEYS }, '--json', 'verify');
    expect(JSON.parse(out)).toMatchObject({ verified: { kind: 'stores', at: platform.dataDir }, ok: true });
  });

  it('is not a file and a server at once', async () => {
    expect(await operatorOn(server, 'verify', exported, '--url', platform.url)).toMatchObject({
      code: 2,
      err: 'Use a file or --url, not both.\n',
    });
  });

  it('is a log that is there', async () => {
    const folder = join(root, 'elsewhere');
    expect(await operatorOn({ DATA_DIR: folder }, 'verify')).toMatchObject({
      code: 1,
      err: `No log in ${folder}. Set DATA_DIR to the folder of the stores.\n`,
    });
    expect(existsSync(folder)).toBe(false);
  });
});

describe('an imported log', () => {
  const imported = () => ({ DATA_DIR: join(root, 'imported'), SEAL_KEY: '', VAULT_KEY: '' });

  it('is verified without any secret, who signed included', async () => {
    expect((await operatorOn(imported(), 'import', exported)).code).toBe(0);
    const { code, out, err } = await operatorOn(imported(), 'verify');
    expect([code, out, err]).toEqual([
      0,
      expect.stringContaining('The log is as it was sealed'),
      expect.not.stringContaining('Signatures were not checked'),
    ]);
    const other = 'A'.repeat(43);
    expect(await operatorOn(imported(), 'verify', '--public-key', other)).toMatchObject({
      code: 3,
      out: expect.stringContaining('seal_key') as string,
    });
  });

  it('is checked in all but who signed where no key is known, and that is said', async () => {
    rmSync(join(imported().DATA_DIR, 'keys', 'SEAL_KEY.pub'));
    expect(await operatorOn(imported(), 'verify')).toMatchObject({
      code: 0,
      err: expect.stringContaining('Signatures were not checked') as string,
    });
    const database = new Database(join(imported().DATA_DIR, 'log', 'events.sqlite'));
    database.prepare("UPDATE events SET type = 'SpaceCreatef' WHERE type = 'SpaceCreated'").run();
    database.close();
    expect((await operatorOn(imported(), 'verify')).code).toBe(3);
  });
});

describe('a file', () => {
  const write = (name: string, content: string | Buffer): string => {
    const file = join(root, name);
    writeFileSync(file, content);
    return file;
  };
  const whole = () => readFileSync(exported);

  it.each([
    ['of text', () => write('notes.md', '# Notes\n{"stream":1}\n'), /is not an export/],
    ['of JSON lines', () => write('other.jsonl', '{"a":1}\n{"b":2}\n'), /is not an export/],
    ['without anything', () => write('empty.jsonl', ''), /is not an export/],
    ['that is not gzipped and says so', () => write('plain.jsonl.gz', whole()), /is not gzipped/],
    [
      'that is gzipped and does not say so',
      () => write('zipped.jsonl', gzipSync(whole())),
      /is gzipped\. Rename it to .*zipped\.jsonl\.gz/,
    ],
    ['that is not there', () => join(root, 'nowhere.jsonl'), /^File .*nowhere\.jsonl not found\.\n$/],
    ['that is a folder', () => join(root, 'folder'), /is a folder, not an export/],
  ])('%s is a wrong file, not a forged one: for verify and import', async (_name, made, sentence) => {
    mkdirSync(join(root, 'folder'), { recursive: true });
    const file = made();
    for (const verb of ['verify', 'import']) {
      const { code, out, err } = await operatorOn({ DATA_DIR: join(root, 'target') }, verb, file);
      expect([verb, code, out.includes('NOT as it was sealed'), err]).toEqual([
        verb,
        2,
        false,
        expect.stringMatching(sentence),
      ]);
      expect(err.split('\n')).toHaveLength(2);
    }
  });

  it.each([
    ['that was changed', () => write('changed.jsonl', whole().toString().replace('SpaceCreated', 'SpaceCreatef'))],
    ['whose header is gone', () => write('headless.jsonl', whole().toString().split('\n').slice(1).join('\n'))],
    ['that was cut off', () => write('cut.jsonl', whole().subarray(0, -400))],
    ['whose gzip was cut off', () => write('cut.jsonl.gz', gzipSync(whole()).subarray(0, -400))],
  ])('%s is an export that is not as it was written', async (_name, made) => {
    const file = made();
    const { code, out } = await operatorOn({}, 'verify', file);
    expect([code, out]).toEqual([3, expect.stringContaining('NOT as it was sealed')]);
    // Whoever notes it forgets the seal that proves what is gone.
    expect(out).not.toContain('to note for --since');
  });
});

describe('a backup', () => {
  const [folder, keys] = [() => join(root, 'backup'), () => join(root, 'backup-keys')];
  const restoring = (...given: string[]) =>
    operatorOn({ ...KEYS, DATA_DIR: join(root, 'restored') }, 'restore', folder(), '--keys', keys(), ...given);

  it('is verified by the hashes of its files and the seals of its log, beside a server too', async () => {
    expect((await operatorOn({ ...stores, ...KEYS }, 'backup', folder(), '--keys', keys())).code).toBe(0);
    const { code, out } = await operatorOn({ ...stores, ...KEYS }, 'verify', folder(), '--keys', keys());
    expect([code, firstLine(out), out]).toEqual([
      0,
      `Verifying the backup ${folder()}`,
      expect.stringMatching(/Every file is as it was backed up: \d+\.\nThe log is as it was sealed/),
    ]);
    expect((await operatorOn({ ...stores, ...KEYS }, 'verify', exported, '--keys', keys())).code).toBe(2);
  });

  it('with a key that does not open ends with 3 where it is verified with its file of keys', async () => {
    const changed = join(root, 'changed-keys');
    writeFileSync(changed, readFileSync(keys()));
    const database = new Database(changed);
    database.prepare('UPDATE keys SET wrapped = randomblob(60) WHERE id = (SELECT min(id) FROM keys)').run();
    database.close();
    const { code, out } = await operatorOn({ ...stores, ...KEYS }, 'verify', folder(), '--keys', changed);
    expect([code, out]).toEqual([3, expect.stringContaining(`changed  ${changed}: `)]);
    expect(out).toContain('1 key cannot be opened: what it encrypted cannot be read.\nThe log is as it was sealed');
  });

  it('that was changed ends with 3 where it is verified or restored, and is restored only with --force', async () => {
    const log = join(folder(), 'log', 'events.sqlite');
    const whole = readFileSync(log);
    const database = new Database(log);
    database.prepare("UPDATE events SET type = 'SpaceCreatef' WHERE type = 'SpaceCreated'").run();
    database.close();
    const { code, out } = await operatorOn({ ...stores, ...KEYS }, 'verify', folder());
    expect([code, out]).toEqual([
      3,
      expect.stringMatching(
        /NOT as it was made: 1 finding\.\n {2}changed {2}log\/events\.sqlite: [\s\S]*NOT as it was sealed/,
      ),
    ]);
    const rejected = await restoring();
    expect([rejected.code, rejected.out]).toEqual([3, expect.stringMatching(/^Nothing was restored\.\n.*1 finding\./)]);
    expect(await restoring('--force')).toMatchObject({
      code: 1,
      err: expect.stringContaining('its log cannot be read') as string,
    });
    writeFileSync(log, whole);
    rmSync(join(folder(), 'files.jsonl'));
    expect((await restoring()).code).toBe(3);
    const forced = await restoring('--force');
    expect([forced.code, forced.out]).toEqual([3, expect.stringMatching(/^Restored the backup of /)]);
  });
});

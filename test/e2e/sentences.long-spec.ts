import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from './child';
import { endOfStart } from './ended-start';
import { startTestPlatform } from './harness';
import { operatorOn } from './on-stores';

const MAIN = 'apps/api/src/main.ts';
let root: string;
let whole: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sentences-'));
  whole = join(root, 'whole');
  await (await startTestPlatform({ dataDir: whole })).stop({ keep: true });
});
afterAll(() => rmSync(root, { recursive: true }));

let copies = 0;
/** A folder of stores of which something is wrong. */
const harmed = (harm: (folder: string) => void): string => {
  const folder = join(root, `harmed-${(copies += 1)}`);
  cpSync(whole, folder, { recursive: true });
  harm(folder);
  return folder;
};
const garbage = (folder: string, file: string): void => {
  for (const suffix of ['-wal', '-shm']) rmSync(join(folder, `${file}${suffix}`), { force: true });
  writeFileSync(join(folder, file), Buffer.alloc(9_000, 'garbage'));
};

const wrongs: readonly (readonly [string, () => string, RegExp])[] = [
  [
    'a folder that cannot be made',
    () => '/proc/nope/data',
    /^DATA_DIR \/proc\/nope\/data cannot be used: .*\. Set DATA_DIR to a folder that this user may write\.$/,
  ],
  [
    'a file in its place',
    () => (writeFileSync(join(root, 'file'), ''), join(root, 'file', 'data')),
    /^DATA_DIR .*data cannot be used: part of the path is a file\. Set DATA_DIR/,
  ],
  [
    'a damaged log',
    () => harmed((folder) => garbage(folder, 'log/events.sqlite')),
    /^the log is damaged at events\.sqlite: .*\.$/,
  ],
  [
    'a damaged vault',
    () => harmed((folder) => garbage(folder, 'vault/vault.sqlite')),
    /vault\.sqlite is damaged: put the keys back from their backup/,
  ],
  [
    'a key that is none',
    () => harmed((folder) => writeFileSync(join(folder, 'keys', 'VAULT_KEY'), 'foo')),
    /VAULT_KEY holds no key of at least 32 characters\. Put the right one back/,
  ],
  [
    'another key',
    () => harmed((folder) => writeFileSync(join(folder, 'keys', 'VAULT_KEY'), 'x'.repeat(64))),
    /^VAULT_KEY is not the key that the vault in .* was made with/,
  ],
  [
    'a key that cannot be read',
    () => harmed((folder) => (rmSync(join(folder, 'keys', 'SEAL_KEY')), mkdirSync(join(folder, 'keys', 'SEAL_KEY')))),
    /SEAL_KEY cannot be read \(EISDIR\)\. Put the right one back/,
  ],
];
const here = process.platform === 'linux' ? wrongs : wrongs.slice(1);

it.each(here)('a start on %s ends at once with a sentence', async (_name, folder, sentence) => {
  const begun = performance.now();
  const { code, said } = await endOfStart({ DATA_DIR: folder(), PORT: '0', LOG_LEVEL: 'silent' });
  expect([code, said.trimEnd().split('\n').length, said.trimEnd()]).toEqual([1, 1, expect.stringMatching(sentence)]);
  expect(performance.now() - begun).toBeLessThan(30_000);
});

it('a process that starts on a damaged log ends with its sentence, and nothing else keeps it', async () => {
  const folder = harmed((stores) => garbage(stores, 'log/events.sqlite'));
  const begun = performance.now();
  await expect(startChild(MAIN, { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' })).rejects.toThrow(
    /^apps\/api\/src\/main\.ts ended with 1: the log is damaged at events\.sqlite: .*\.\n$/,
  );
  expect(performance.now() - begun).toBeLessThan(30_000);
});

it.each([
  [
    'a damaged log',
    'log/events.sqlite',
    [
      ['export', 'x.jsonl'],
      ['backup', 'backup'],
      ['create-admin-key', '--reason', 'x'],
    ],
  ],
  [
    'a damaged vault',
    'vault/vault.sqlite',
    [
      ['export', 'y.jsonl', '--keys', 'keys.jsonl'],
      ['backup', 'backup2', '--keys', 'keys2'],
      ['create-admin-key', '--reason', 'x'],
      ['rotate-vault-key'],
    ],
  ],
] as const)('the command line on %s says so in a sentence', async (_name, file, verbs) => {
  const folder = harmed((stores) => garbage(stores, file));
  for (const [verb, ...given] of verbs) {
    const words = given.map((word) => (/^(-|x$)/.test(word) ? word : join(root, word)));
    const { code, err } = await operatorOn({ DATA_DIR: folder }, verb, ...words);
    expect([verb, code, err.trimEnd().split('\n').at(-1)]).toEqual([verb, 1, expect.stringMatching(/damaged.*\.$/)]);
    expect(err).not.toMatch(/^ {4}at /m);
  }
});

it('the command line makes no folder where none can be', async () => {
  for (const words of [
    ['import', join(root, 'whole.jsonl')],
    ['restore', root, '--keys', join(root, 'keys')],
  ]) {
    if (words[0] === 'import')
      expect((await operatorOn({ DATA_DIR: whole }, 'export', words[1] as string)).code).toBe(0);
    expect(
      await operatorOn({ DATA_DIR: join(root, 'file', 'data'), VAULT_KEY: 'x'.repeat(32) }, ...words),
    ).toMatchObject({ code: 1, err: expect.stringMatching(/^DATA_DIR .*file\/data cannot be used/m) as string });
  }
  expect(await operatorOn({ DATA_DIR: whole }, 'export', join(root, 'file', 'x', 'log.jsonl'))).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^E[A-Z]+: .*\.\n$/) as string,
  });
  expect(existsSync(join(root, 'file', 'x'))).toBe(false);
});

it('an export names what exports to the same files left that were killed, and touches nothing of it', async () => {
  const folder = join(root, 'exports');
  mkdirSync(folder);
  const left = ['log.jsonl.0123abcd.unfinished', 'keys.jsonl.4567cdef.unfinished'].map((name) => join(folder, name));
  for (const path of [...left, join(folder, 'other.jsonl.0123abcd.unfinished')]) writeFileSync(path, 'half');
  const words = ['export', join(folder, 'log.jsonl'), '--keys', join(folder, 'keys.jsonl')];
  const { code, err } = await operatorOn({ DATA_DIR: whole }, ...words);
  expect(code).toBe(0);
  expect(err.match(/^Note: .*$/gm)).toEqual(
    left.map((path) => `Note: ${path} is of an export that did not end. Remove it, unless that export runs now.`),
  );
  expect(left.every((path) => existsSync(path))).toBe(true);
});

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportKeys } from '@app/backup';
import { openFileBlobs } from '@app/blobs';
import { exportLog } from '@app/sealing';
import { openSqliteVault } from '@app/vault';
import { FixedClock } from '../fixtures/fixed-clock';
import { SealedLog } from '../fixtures/sealed-log';
import { operatorOn } from './on-stores';

const KEYS = { VAULT_KEY: 'the vault key of a test of imports', SEAL_KEY: 'the seal key of a test of imports, too' };

let root: string;
const at = (name: string): string => join(root, name);

/** An export of a log with two notes, with a key and a file. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'importing-'));
  mkdirSync(at('from'));
  const log = await SealedLog.open(at('from'));
  const vault = await openSqliteVault({ folder: at('from/vault'), wrappingKey: KEYS.VAULT_KEY });
  await (await openFileBlobs({ folder: at('blobs'), vault })).put('document-1', Buffer.from('the file'), {});
  await log.note('document-1', 'a', 'b');
  await log.seal();
  await exportLog(log.log, at('log.jsonl'), { publicKey: log.key.publicKey, clock: new FixedClock() });
  await exportKeys(vault, at('keys.jsonl'));
  await Promise.all([log.close(), vault.close()]);
});
afterAll(() => rmSync(root, { recursive: true }));

const importing = (target: string, blobs = at('blobs')) =>
  operatorOn(
    { ...KEYS, DATA_DIR: at(target) },
    'import',
    at('log.jsonl'),
    '--keys',
    at('keys.jsonl'),
    '--blobs',
    blobs,
  );
const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
    : [];

it.each([
  ['begins otherwise', 'other', async () => mkdirSync(at('other'))],
  [
    'has gone on since',
    'longer',
    async () => {
      await operatorOn({ ...KEYS, DATA_DIR: at('longer') }, 'import', at('log.jsonl'));
    },
  ],
])('an import brings no keys and no files where the log that is there %s', async (_, target, make) => {
  await make();
  const log = await SealedLog.open(at(target));
  await log.note('document-2', 'mine');
  await log.close();
  const { code, err } = await importing(target);
  expect([code, err]).toEqual([1, expect.stringContaining('the log is not empty and differs from this export')]);
  expect([filesIn(at(`${target}/vault`)), filesIn(at(`${target}/blobs`))]).toEqual([[], []]);
});

it('an import that names no folder of files writes nothing, and makes none', async () => {
  expect(await importing('mistyped', at('blob'))).toMatchObject({
    code: 2,
    err: expect.stringContaining(`${at('blob')} is not an export's blobs folder`) as string,
  });
  expect([existsSync(at('blob')), filesIn(at('mistyped'))]).toEqual([false, []]);
});

it('an import changes nothing where it comes from, and can be repeated', async () => {
  rmSync(at('blobs/unfinished'), { recursive: true, force: true });
  const before = readdirSync(at('blobs')).toSorted();
  for (const carried of [1, 0]) {
    const { code, out } = await importing('target');
    expect([code, out]).toEqual([
      0,
      expect.stringContaining(`Imported ${carried} of 1 file. The others were there already.\n`),
    ]);
  }
  expect(readdirSync(at('blobs')).toSorted()).toEqual(before);
  expect(filesIn(at('target/blobs'))).toHaveLength(1);
});

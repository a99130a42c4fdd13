import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileBlobs } from '@app/blobs';
import { openSqliteVault } from '@app/vault';
import { fillWith, tinyFileSystem } from '../faults/log/small-disk';
import { SealedLog } from '../fixtures/sealed-log';
import { operatorOn } from './on-stores';

const KEYS = {
  VAULT_KEY: 'the vault key of a test of full disks',
  SEAL_KEY: 'the seal key of a test of full disks, too',
};
const FULL = 'The disk is full: make room, or name another place, and try again.\n';
const READ_ONLY = 'The disk is read-only: name another place, and try again.\n';

let root: string;
const at = (name: string): string => join(root, name);
const stores = () => ({ ...KEYS, DATA_DIR: at('data') });

/** A log of 600 KB, a file of 100 KB and keys, with their backup. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'full-disk-'));
  mkdirSync(at('data'));
  const log = await SealedLog.open(at('data'));
  const vault = await openSqliteVault({ folder: at('data/vault'), wrappingKey: KEYS.VAULT_KEY });
  await (await openFileBlobs({ folder: at('data/blobs'), vault })).put('document-1', Buffer.alloc(100_000), {});
  for (let note = 0; note < 30; note += 1) await log.note('document-1', `${note}`.repeat(10_000));
  await log.seal();
  await Promise.all([log.close(), vault.close()]);
  expect((await operatorOn(stores(), 'backup', at('backup'), '--keys', at('keys'))).code).toBe(0);
});
afterAll(() => rmSync(root, { recursive: true }));

/** Runs the work on a file system of its own; not at all where this machine allows none. */
const onTinyDisk = async (work: (mount: string, ballast: string) => Promise<void>): Promise<void> => {
  const parent = mkdtempSync(at('mount-'));
  const disk = tinyFileSystem(parent);
  if (disk === undefined) return console.warn('not run, since this machine does not allow a small file system');
  try {
    await work(join(parent, 'tiny'), disk.ballast);
  } finally {
    disk.dispose();
  }
};

const WRITING: readonly (readonly [verb: string, run: (to: string) => ReturnType<typeof operatorOn>])[] = [
  ['backup', (to) => operatorOn(stores(), 'backup', join(to, 'backup'), '--keys', join(to, 'keys'))],
  ['export', (to) => operatorOn(stores(), 'export', join(to, 'log.jsonl'), '--keys', join(to, 'keys'))],
  [
    'restore',
    (to) => operatorOn({ ...KEYS, DATA_DIR: join(to, 'data') }, 'restore', at('backup'), '--keys', at('keys')),
  ],
];

it.each(WRITING)(
  '%s says what to do where the disk is full, leaves nothing that looks whole, and can be repeated',
  (verb, run) =>
    onTinyDisk(async (mount, ballast) => {
      fillWith(ballast);
      const { code, out, err } = await run(mount);
      expect([code, out, err.endsWith(FULL), err.includes('    at ')]).toEqual([1, '', true, false]);
      const whole = ['backup', 'keys', 'log.jsonl', 'data/log/events.sqlite'].filter((name) =>
        existsSync(join(mount, name)),
      );
      expect(whole).toEqual([]);
      if (verb !== 'restore') expect(readdirSync(mount)).toEqual(['ballast']);
      rmSync(ballast);
      expect((await run(mount)).code).toBe(0);
    }),
);

it.each(WRITING)('%s says so where the disk is read-only', (verb, run) =>
  onTinyDisk(async (mount) => {
    expect(spawnSync('mount', ['-o', 'remount,ro', mount]).status).toBe(0);
    const { code, err } = await run(mount);
    expect([code, err]).toEqual([
      1,
      verb === 'restore'
        ? `DATA_DIR ${join(mount, 'data')} cannot be used: the disk is read-only. Set DATA_DIR to a folder that this user may write.\n`
        : (expect.stringContaining(READ_ONLY) as string),
    ]);
    expect(readdirSync(mount)).toEqual([]);
  }),
);

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Seen } from './log/disk-full-child';

/** Fault 5: the disk is full. In a process of its own, since the limit on file sizes is one of the process. */

const root = join(__dirname, '..', '..');
let parent: string;
beforeEach(() => (parent = mkdtempSync(join(tmpdir(), 'log-full-'))));
afterEach(() => rmSync(parent, { recursive: true }));

/** Undefined where this machine does not allow the means. */
const run = (means: string): Seen | undefined => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--require', join(root, 'test/register.cjs'), join(root, 'test/faults/log/disk-full-child.ts'), means, parent],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout === '' ? undefined : (JSON.parse(stdout) as Seen);
};

test.each([
  ['tmpfs', 'a small file system', /disk is full/],
  ['rlimit', 'a limit on the size of files (RLIMIT_FSIZE)', /disk failed/],
])(
  '%s: nothing is acknowledged that is not stored, reads go on, and writing resumes by itself',
  (means, description, reason) => {
    const seen = run(means);
    if (seen === undefined) return console.warn(`not run, since this machine does not allow ${description}`);

    expect(seen.rejections).toEqual(
      Array.from({ length: 8 }, () => ({ outcome: 'none', reason: expect.stringMatching(reason) })),
    );
    expect(seen.health).toEqual({ writable: false, readable: true, reason: expect.stringMatching(reason) });
    expect(seen.whenFull.acknowledged.length).toBeGreaterThan(100);
    expect(seen.whenFull.found).toEqual(seen.whenFull.acknowledged);
    expect(seen.later.acknowledged.length).toBe(seen.whenFull.acknowledged.length + 2);
    expect(seen.later.found).toEqual(seen.later.acknowledged);
  },
);

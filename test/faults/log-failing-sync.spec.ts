import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteEventLog } from '@app/event-log';
import type { Seen } from './log/failing-sync-child';

/** Fault 6: the disk does not confirm what was written, from the N-th call on. */

const root = join(__dirname, '..', '..');
const canCompile = spawnSync('gcc', ['--version']).status === 0 && process.platform === 'linux';
let folder: string;
let library: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-sync-'));
  library = join(folder, 'failing-sync.so');
  if (canCompile)
    execFileSync('gcc', ['-shared', '-fPIC', '-o', library, join(root, 'test/faults/log/failing-sync.c'), '-ldl']);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the child with syncs that fail after some that succeed. */
const run = (log: string, succeed: number, end: 'close' | 'die'): Seen => {
  const script = join(root, 'test/faults/log/failing-sync-child.ts');
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--require', join(root, 'test/register.cjs'), script, log, String(succeed), end],
    {
      env: { ...process.env, LD_PRELOAD: library, FAILING_SYNC: join(folder, `control-${succeed}-${end}`) },
      encoding: 'utf8',
    },
  );
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Seen;
};

const storedIds = async (log: string): Promise<string[]> => {
  const opened = await openSqliteEventLog({ folder: log });
  const { events } = await opened.readAll({ limit: 1_000 });
  await opened.close();
  return events.map(({ id }) => id);
};

const given = canCompile ? test : test.skip;

given.each([0, 1, 3])(
  'after %d more syncs: no acknowledgement, reads go on, writing resumes on a new handle, a repeat stands once',
  async (succeed) => {
    const seen = run(join(folder, `log-${succeed}`), succeed, 'close');

    expect(seen.outcomes).toEqual(['unknown', 'none', 'none']);
    expect(seen.whileFailing).toMatchObject({
      writable: false,
      readable: true,
      reason: expect.stringContaining('fsync'),
    });
    expect(seen.whileFailing.ids).toEqual(seen.acknowledged.slice(0, -1));
    expect(seen.again).toEqual({ revision: 0, ids: [seen.sentAgain] });
    expect((await storedIds(join(folder, `log-${succeed}`))).toSorted()).toEqual(
      [...seen.acknowledged, seen.sentAgain].toSorted(),
    );
  },
);

given('a process that dies then has stored what it acknowledged, in order', async () => {
  const { acknowledged } = run(join(folder, 'dying'), 2, 'die');

  expect((await storedIds(join(folder, 'dying'))).slice(0, acknowledged.length)).toEqual(acknowledged);
});

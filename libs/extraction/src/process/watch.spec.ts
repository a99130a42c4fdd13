import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { lastBytes, WITHOUT_SQLITE } from './parser';

const root = join(__dirname, '../../../..');

/** What code that took over the parser might try once the watch runs: threads can be given rights, and databases are not asked for any. */
const TRIES = `
  const { Worker } = require('node:worker_threads');
  const tried = (work) => { try { work(); return 'done'; } catch (error) { return error.code; } };
  const rights = { eval: true, execArgv: ['--permission', '--allow-fs-read=*', '--allow-net'] };
  const { startWatch } = require(${JSON.stringify(join(__dirname, 'watch.ts'))});
  const watch = startWatch({ memoryMb: 1024, seconds: 60, inflatedBytes: 1, parent: process.ppid });
  console.log(JSON.stringify([
    tried(() => new Worker('', rights)),
    tried(() => new (require('node:sqlite').DatabaseSync)(':memory:')),
  ]));
  watch.terminate();
`;

it('leaves the process no way around its permissions', () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      WITHOUT_SQLITE,
      '--permission',
      '--allow-worker',
      '--allow-addons',
      '--no-warnings',
      '--require',
      join(root, 'test/register.cjs'),
      `--allow-fs-read=${root}`,
      `--allow-fs-write=${join(root, '.cache')}`,
      '--eval',
      TRIES,
    ],
    { cwd: root, env: {}, encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(['ERR_ACCESS_DENIED', 'ERR_UNKNOWN_BUILTIN_MODULE']);
});

it('ends the process at its share of the processors, however little the clock says', () => {
  const { stderr, signal } = spawnSync(
    process.execPath,
    [
      '--require',
      join(root, 'test/register.cjs'),
      '--eval',
      `const { startWatch } = require(${JSON.stringify(join(__dirname, 'watch.ts'))});
       startWatch({ memoryMb: 1024, seconds: 60, cpuSeconds: 0.2, parent: process.ppid });
       setTimeout(() => { for (;;); }, 50);`,
    ],
    { cwd: root, encoding: 'utf8', timeout: 30_000 },
  );
  expect([stderr, signal]).toEqual([' timed_out', 'SIGKILL']);
});

it.each([
  ['ends the process at the time that it was allowed beside', '{ memoryMb: 0, cpuSeconds: 0.2 }', ' timed_out'],
  ['ends no process that takes less', '{ memoryMb: 0, cpuSeconds: 60 }', ''],
  ['ends no process that takes less memory', '{ memoryMb: 512, cpuSeconds: 60 }', '', 0],
])('%s, where it is allowed more', (_, more, said, memoryMb = 1024) => {
  const { stderr } = spawnSync(
    process.execPath,
    [
      '--require',
      join(root, 'test/register.cjs'),
      '--eval',
      `const { startWatch } = require(${JSON.stringify(join(__dirname, 'watch.ts'))});
       const memoryMb = ${memoryMb} || process.memoryUsage.rss() / 2 ** 20 + 64;
       const watch = startWatch({ memoryMb, seconds: 60, cpuSeconds: 0.4, parent: process.ppid });
       watch.allow(${more});
       const held = ${memoryMb} === 0 ? Buffer.alloc(192 * 2 ** 20, 1) : undefined;
       setTimeout(() => {
         const before = process.cpuUsage();
         for (;;) { const { user, system } = process.cpuUsage(before); if (user + system > 1.2e6) break; }
         watch.terminate();
       }, 50);`,
    ],
    { cwd: root, encoding: 'utf8', timeout: 30_000 },
  );
  expect(stderr).toBe(said);
});

it('ends the process at its time, however little it does', () => {
  const { stderr, signal } = spawnSync(
    process.execPath,
    [
      '--require',
      join(root, 'test/register.cjs'),
      '--eval',
      `const { startWatch } = require(${JSON.stringify(join(__dirname, 'watch.ts'))});
       startWatch({ memoryMb: 1024, seconds: 0.2, parent: process.ppid });
       setInterval(() => undefined, 1_000);`,
    ],
    { cwd: root, encoding: 'utf8', timeout: 30_000 },
  );
  expect([stderr, signal]).toEqual([' timed_out', 'SIGKILL']);
});

it('ends the process that was left to another before the watch began', () => {
  const { stderr, signal } = spawnSync(
    process.execPath,
    [
      '--require',
      join(root, 'test/register.cjs'),
      '--eval',
      `const { startWatch } = require(${JSON.stringify(join(__dirname, 'watch.ts'))});
       startWatch({ memoryMb: 1024, seconds: 60, parent: process.ppid + 1 });
       setTimeout(() => { for (;;); }, 50);`,
    ],
    { cwd: root, encoding: 'utf8', timeout: 60_000 },
  );
  expect([stderr, signal]).toEqual([' ', 'SIGKILL']);
});

it('keeps the end of what a process says, however much that is', async () => {
  const said = await lastBytes(
    Readable.from([Buffer.alloc(1024 ** 2, 'x'), Buffer.from('y'), Buffer.from(' timed_out')]),
  );
  expect(said).toHaveLength(64 * 1024);
  expect(said).toMatch(/xy timed_out$/);
});

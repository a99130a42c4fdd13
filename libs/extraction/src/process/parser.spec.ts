import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { Unavailable } from '@app/kernel';
import { Parser, WITHOUT_SQLITE } from './parser';
import type { Spawn } from './start-process';

const LIMITS = { memoryMb: 512, seconds: 60, inflatedBytes: 1_000 };
const FILE = { name: 'a.pdf', mimeType: 'application/pdf', body: Buffer.from('%PDF-1.7') };
const HANGS = 'setInterval(() => undefined, 1_000);';
/** Says on its output what it was given. */
const ECHOES = `
  const pieces = [];
  process.stdin.on('data', (piece) => pieces.push(piece)).on('end', () => {
    const input = Buffer.concat(pieces);
    const end = 4 + input.readUInt32BE(0);
    console.log(JSON.stringify({ ...JSON.parse(input.subarray(4, end)), body: input.subarray(end).toString() }));
  });`;

/** A parser whose process runs a script in the place of its own. */
const setUp = (script: string, limits: Partial<typeof LIMITS> = {}) => {
  const children: ChildProcess[] = [];
  const started: { args: readonly string[]; env: unknown }[] = [];
  const start: Spawn = (command, args, options) => {
    started.push({ args, env: options.env });
    const child = spawn(command, ['-e', script], options);
    children.push(child);
    return child;
  };
  const parser = new Parser({ ...LIMITS, ...limits }, { start });
  const read = (signal = new AbortController().signal, body = FILE.body) => parser.read({ ...FILE, body }, signal);
  return { children, started, read };
};

/** A parser whose process does what is said, without being one. */
const pretending = (pieces: readonly Buffer[], ends: (child: EventEmitter) => void) => {
  const child = Object.assign(new EventEmitter(), {
    pid: process.pid,
    stdin: new PassThrough(),
    stdout: Readable.from(pieces),
    stderr: Readable.from([]),
    kill: jest.fn(() => true),
  });
  setImmediate(() => ends(child));
  // What the parser uses of a process is there.
  const start: Spawn = () => child as unknown as ChildProcess;
  return { child, reading: new Parser(LIMITS, { start }).read(FILE, new AbortController().signal) };
};

it('gives the process its order and the file, and neither an environment nor databases', async () => {
  const { started, read } = setUp(ECHOES);
  expect(JSON.parse((await read()).toString())).toEqual({
    name: 'a.pdf',
    mimeType: 'application/pdf',
    limits: LIMITS,
    parent: process.pid,
    body: '%PDF-1.7',
  });
  expect(started).toMatchObject([{ env: {} }]);
  expect(Object.keys(started[0]?.env ?? { a: 1 })).toEqual([]);
  expect(started[0]?.args).toEqual(
    expect.arrayContaining([WITHOUT_SQLITE, '--permission', '--max-old-space-size=448']),
  );
});

it.each([
  ['what it says', "process.stderr.write('Warning: odd encrypted'); process.exitCode = 1;", 'encrypted'],
  ['an end that it does not explain', 'process.exit(3);', 'malformed'],
  ['no end of V8', 'process.abort();', 'out_of_memory'],
  ['the end of V8 in a shell', 'process.exit(134);', 'out_of_memory'],
  [
    'the report of V8',
    "process.stderr.write('JavaScript heap out of memory\\n'); process.exitCode = 5;",
    'out_of_memory',
  ],
  ['an end by the system', "process.kill(process.pid, 'SIGKILL');", 'timed_out'],
  ['an answer before a failure', "process.stdout.write('{}'); process.exitCode = 1;", 'malformed'],
])('finds out why the process ended: %s', async (_, script, code) =>
  expect(setUp(script).read()).rejects.toMatchObject({ code }),
);

it('ends the process that does not end itself after its time', async () => {
  // Of its two seconds of grace.
  const { children, read } = setUp(HANGS, { seconds: -1.7 });
  await expect(read()).rejects.toMatchObject({ code: 'timed_out' });
  expect(children[0]?.signalCode).toBe('SIGKILL');
});

it('ends the process with the signal', async () => {
  const { children, read } = setUp(HANGS);
  const leaving = new AbortController();
  setImmediate(() => leaving.abort(new Error('deleted')));
  await expect(read(leaving.signal)).rejects.toThrow('deleted');
  expect(children[0]?.signalCode).toBe('SIGKILL');
});

it('starts no process for what nobody wants any more', async () => {
  const { started, read } = setUp(ECHOES);
  await expect(read(AbortSignal.abort(new Error('deleted')))).rejects.toThrow('deleted');
  expect(started).toEqual([]);
});

it('outlives a process that takes nothing of its file', async () => {
  const { read } = setUp('process.stdin.destroy(); process.exit(3);');
  await expect(read(undefined, Buffer.alloc(8 * 1024 ** 2))).rejects.toMatchObject({ code: 'malformed' });
});

it('takes no more from a process than any extraction has', async () => {
  const much = Array.from({ length: 10 }, () => Buffer.alloc(0));
  const huge = Buffer.alloc(64 * 1024 ** 2);
  const { child, reading } = pretending(much.fill(huge), (process) => process.emit('exit', 0, null));
  await expect(reading).rejects.toMatchObject({ code: 'malformed' });
  expect(child.kill).toHaveBeenCalledWith('SIGKILL');
});

it('is tried again later where the process fails as such, which is ended', async () => {
  const { child, reading } = pretending([], (process) => process.emit('error', new Error('spawn EAGAIN')));
  await expect(reading).rejects.toBeInstanceOf(Unavailable);
  expect(child.kill).toHaveBeenCalledWith('SIGKILL');
});

it('keeps no timer of a process that has ended', async () => {
  const [set, clear] = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'clearTimeout')];
  await setUp(ECHOES).read();
  const timers = set.mock.results.flatMap(({ value }, call) => (set.mock.calls[call]?.[1] === 62_000 ? [value] : []));
  expect(timers).toHaveLength(1);
  expect(clear).toHaveBeenCalledWith(timers[0]);
});

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { createServer } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BACKGROUND_PRIORITY, productRoot } from '@app/kernel';
import { pptxFile, relations, zipFile } from '../../../../test/fixtures/files/office';
import { pdfFile, pdfLines } from '../../../../test/fixtures/files/pdf';
import type { Extraction } from '../extraction';
import { codeArguments, Parser } from './parser';
import type { Spawn } from './start-process';

const LIMITS = { memoryMb: 512, seconds: 60, inflatedBytes: 1024 ** 3 };
const read = async (name: string, body: Buffer | string, limits: Partial<typeof LIMITS> = {}, signal?: AbortSignal) =>
  JSON.parse(
    (
      await new Parser({ ...LIMITS, ...limits }).read(
        { name, mimeType: '', body: Buffer.from(body as Buffer) },
        signal ?? new AbortController().signal,
      )
    ).toString(),
  ) as Extraction;

/** Slides that are one slide, again and again: small, and read for minutes. */
const looping = (): Buffer =>
  zipFile({
    'ppt/presentation.xml': `<p xmlns:r="r">${'<sldId r:id="a"/>'.repeat(200_000)}</p>`,
    'ppt/_rels/presentation.xml.rels': relations({ a: ['slide', 's.xml'] }),
    'ppt/s.xml': '<sld><sp><p><r><t>again</t></r></p></sp></sld>',
  });

describe('the parser process', () => {
  it('may read from the build what the kernel reads as it is loaded', () => {
    const load = `require('node:fs').readFileSync(${JSON.stringify(join(productRoot, 'package.json'))})`;
    const { status, stderr } = spawnSync(process.execPath, [...codeArguments('.js'), '--eval', load]);
    expect([status, stderr.toString()]).toEqual([0, '']);
  });

  it('answers what is in a file', async () => {
    expect((await read('a.pdf', pdfFile([pdfLines(['Größe'])]))).text).toBe('Größe');
    expect((await read('a.pptx', pptxFile([{ title: 'T', lines: ['Text'] }]))).blocks.at(-1)?.place).toEqual({
      slide: 1,
    });
  });

  it.each([
    ['the code of the file', 'a.pdf', Buffer.from('%PDF-1.7'), {}, 'malformed'],
    ['time', 'a.pptx', looping(), { seconds: 1 }, 'timed_out'],
    ['memory', 'a.json', Buffer.from(`[${'{"a":1},'.repeat(3_000_000)}1]`), { memoryMb: 160 }, 'out_of_memory'],
    ['memory besides the heap', 'a.json', Buffer.alloc(150 * 1024 ** 2, ' '), { memoryMb: 128 }, 'out_of_memory'],
    [
      'what it inflates to',
      'a.docx',
      zipFile({ 'word/document.xml': Buffer.alloc(5_000_000, ' ') }),
      { inflatedBytes: 1_000_000 },
      'inflates_too_far',
    ],
  ])('ends at its limits: %s', async (_, name, body, limits, code) =>
    expect(read(name, body, limits)).rejects.toMatchObject({ code }),
  );

  it('ends with the signal', async () => {
    const ending = new AbortController();
    const reading = read('a.pptx', looping(), {}, ending.signal);
    setTimeout(() => ending.abort(new Error('deleted')), 300);
    await expect(reading).rejects.toThrow('deleted');
  });

  it.each([
    ['its own', {}, getPriority()],
    ['that of background work', { priority: BACKGROUND_PRIORITY }, BACKGROUND_PRIORITY],
  ])('runs at the priority it is given: %s', async (_, options, priority) => {
    const seen: number[] = [];
    const start: Spawn = (...given) => {
      const child = spawn(...given);
      process.nextTick(() => seen.push(getPriority(child.pid)));
      return child;
    };
    const file = { name: 'a.json', mimeType: '', body: Buffer.from('{"a":1}') };
    await new Parser(LIMITS, { ...options, start }).read(file, new AbortController().signal);
    expect(seen).toEqual([priority]);
  });

  it('is disturbed neither by what parsers say nor by promises that they leave behind', async () => {
    const script = join(productRoot, '.cache', `noise-${process.pid}.cjs`);
    writeFileSync(script, `setImmediate(() => { console.log('noise'); void Promise.reject(new Error('left')); });`);
    const start: Spawn = (command, args, options) => spawn(command, ['--require', script, ...args], options);
    const file = { name: 'a.json', mimeType: '', body: Buffer.from('{"a":1}') };
    const answer = await new Parser(LIMITS, { start }).read(file, new AbortController().signal);
    rmSync(script);
    // What the parser process gives.
    expect((JSON.parse(answer.toString()) as Extraction).text).toBe('a: 1');
  });

  it('knows nothing of the environment, and may open, write, start and read nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parser-'));
    const script = join(__dirname, '..', '..', '..', '..', '.cache', `tries-${process.pid}.cjs`);
    const server = createServer();
    let connections = 0;
    server.on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    writeFileSync(
      script,
      `const tried = async (name, work) => { try { await work(); return name + ' done'; } catch (error) { return name + ' ' + (error.code ?? error.cause?.code); } };
       (async () => console.log(JSON.stringify([
         Object.keys(process.env).length,
         await tried('read', () => require('fs').readFileSync('/etc/hostname')),
         await tried('write', () => require('fs').writeFileSync(${JSON.stringify(join(folder, 'a'))}, 'a')),
         await tried('start', () => require('child_process').execFileSync('true')),
         await tried('connect', () => new Promise((resolve, reject) => require('net').connect(${port}, '127.0.0.1', resolve).once('error', reject))),
         await tried('fetch', () => fetch('http://127.0.0.1:${port}')),
         await tried('resolve', () => require('dns').promises.lookup('localhost')),
       ])))();`,
    );
    const { stdout } = spawnSync(process.execPath, [...codeArguments('.js'), `--allow-fs-read=${script}`, script], {
      env: {},
      encoding: 'utf8',
    });
    rmSync(script);
    server.close();
    expect(JSON.parse(stdout)).toEqual([
      0,
      ...['read', 'write', 'start', 'connect', 'fetch', 'resolve'].map((name) => `${name} ERR_ACCESS_DENIED`),
    ]);
    expect([connections, existsSync(join(folder, 'a'))]).toEqual([0, false]);
    rmSync(folder, { recursive: true });
  });
});

it.each([
  [
    'there is no memory for it',
    () => {
      throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' });
    },
  ],
  [
    'there is no file descriptor left',
    () => {
      // As Node gives it: without an id and without streams.
      const child = Object.assign(new EventEmitter(), { kill: () => false }) as ChildProcess;
      process.nextTick(() => child.emit('error', new Error('spawn EMFILE')));
      return child;
    },
  ],
])('a process that cannot be started is tried again later: %s', async (_, start) => {
  const reading = new Parser(LIMITS, { start }).read(
    { name: 'a.pdf', mimeType: '', body: Buffer.from('%PDF-1.7') },
    new AbortController().signal,
  );
  await expect(reading).rejects.toMatchObject({ name: 'Unavailable', dependency: 'parser' });
});

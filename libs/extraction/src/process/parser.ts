import type { ChildProcess } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Config, productRoot, Unavailable } from '@app/kernel';
import {
  ExtractionFailure,
  type ExtractionFailureCode,
  isExtractionFailureCode,
  type ParserLimits,
  type SourceFile,
} from '../extraction';
import type { ParserOrder } from './parser.process';
import { startProcess, type StartOptions } from './start-process';

/** A process that has not ended itself this long after its time is ended, milliseconds. */
const GRACE_MS = 2_000;
/** What V8 may not use of the memory: code, threads, buffers. */
const BESIDES_HEAP_MB = 64;
const LEAST_HEAP_MB = 64;
/** An extraction has at most 32 million characters, and the offsets of blocks. */
const MAX_ANSWER_BYTES = 512 * 1024 ** 2;

/** Databases are files that the permissions of the process do not reach. */
export const WITHOUT_SQLITE = '--no-experimental-sqlite';
/** Of what a process says on its errors: the report of V8 on its memory, or the code at the end. */
const MAX_SAID_BYTES = 64 * 1024;

/**
 * Reads files that may be hostile, each in a process of its own: it has an empty environment, may open no connection, write no
 * file, start no process and read nothing but the product's own code, and ends at its limits. Whatever a file does to it, it
 * does to nothing else.
 */
export class Parser {
  /** `options`: as of `startProcess`. */
  constructor(
    private readonly limits: ParserLimits,
    private readonly options?: StartOptions,
  ) {}

  /** Has the limits of the configuration. */
  static of(
    {
      PARSER_MEMORY_MB: memoryMb,
      PARSER_SECONDS: seconds,
      PARSER_INFLATED_BYTES: inflatedBytes,
    }: Pick<Config, 'PARSER_MEMORY_MB' | 'PARSER_SECONDS' | 'PARSER_INFLATED_BYTES'>,
    options?: StartOptions,
  ): Parser {
    return new Parser({ memoryMb, seconds, inflatedBytes }, options);
  }

  /**
   * The extraction of a file as JSON. Rejects with `ExtractionFailure`, or the reason of the signal, which ends the process.
   * `Unavailable` where no process can be started.
   */
  async read(file: SourceFile, signal: AbortSignal): Promise<Buffer> {
    signal.throwIfAborted();
    const child = await startProcess([WITHOUT_SQLITE, ...execArguments(this.limits)], this.options);
    const kill = (): void => void child.kill('SIGKILL');
    const late = setTimeout(kill, this.limits.seconds * 1_000 + GRACE_MS);
    signal.addEventListener('abort', kill);
    try {
      give(child, file, this.limits);
      const [answer, said, ended] = await Promise.all([answerOf(child), lastBytes(child.stderr), exitOf(child)]);
      signal.throwIfAborted();
      if (answer === undefined || ended !== 'done') throw new ExtractionFailure(codeOf(said, ended));
      return answer;
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', kill);
      kill();
    }
  }
}

type Ended = 'done' | 'failed' | 'killed' | 'aborted';

const give = (child: ChildProcess, { name, mimeType, body }: SourceFile, limits: ParserLimits): void => {
  const order = Buffer.from(JSON.stringify({ name, mimeType, limits, parent: process.pid } satisfies ParserOrder));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(order.length);
  // A process that has ended takes no more; why it ended says its exit.
  child.stdin?.on('error', () => undefined);
  child.stdin?.write(Buffer.concat([length, order]));
  child.stdin?.end(body);
};

/** Undefined where it says more than any extraction is. */
const answerOf = async (child: ChildProcess): Promise<Buffer | undefined> => {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MAX_ANSWER_BYTES) {
      child.kill('SIGKILL');
      return undefined;
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};

/** The end of what a stream gives, as Latin 1. */
export const lastBytes = async (stream: Readable): Promise<string> => {
  let last = Buffer.alloc(0);
  for await (const piece of stream as AsyncIterable<Buffer>)
    last = Buffer.concat([last, piece.subarray(-MAX_SAID_BYTES)]).subarray(-MAX_SAID_BYTES);
  return last.toString('latin1');
};

const exitOf = (child: ChildProcess): Promise<Ended> =>
  new Promise((resolve, reject) => {
    child.once('error', () => reject(new Unavailable('parser', 'its process could not be started')));
    child.once('exit', (code, signal) =>
      resolve(
        code === 0
          ? 'done'
          : signal === 'SIGABRT' || code === 134
            ? 'aborted'
            : signal === 'SIGKILL'
              ? 'killed'
              : 'failed',
      ),
    );
  });

/** What the process said; else V8 ends it without memory by SIGABRT, the system by SIGKILL, and this one by SIGKILL after its time. */
const codeOf = (said: string, ended: Ended): ExtractionFailureCode => {
  const last = said.slice(said.lastIndexOf(' ') + 1);
  if (isExtractionFailureCode(last)) return last;
  if (ended === 'aborted' || /heap out of memory|Zone|allocation failed/i.test(said)) return 'out_of_memory';
  return ended === 'killed' ? 'timed_out' : 'malformed';
};

const execArguments = ({ memoryMb }: ParserLimits): readonly string[] => [
  `--max-old-space-size=${Math.max(memoryMb - BESIDES_HEAP_MB, LEAST_HEAP_MB)}`,
  '--max-semi-space-size=8',
  ...codeArguments(extname(__filename)),
  join(__dirname, `parser.process${extname(__filename)}`),
];

/**
 * What the process may do: read the build, the packages and what describes the product, and have a thread. From sources (`.ts`), also what the loader of
 * tests needs: all of the checkout, and its cache, which it may fill.
 */
export const codeArguments = (extension: string): readonly string[] => {
  const root = realpathSync(productRoot);
  const permitted = ['--permission', '--allow-worker', '--no-warnings'];
  if (extension === '.js')
    // `package.json`: the kernel reads the version of the product as it is loaded.
    return [
      ...permitted,
      ...['dist', 'node_modules', 'package.json'].map((name) => `--allow-fs-read=${join(root, name)}`),
    ];
  return [
    ...permitted,
    '--require',
    join(root, 'test/register.cjs'),
    '--allow-addons',
    `--allow-fs-read=${root}`,
    `--allow-fs-write=${join(root, '.cache')}`,
  ];
};

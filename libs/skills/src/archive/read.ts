import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { extname, join } from 'node:path';
import { codeArguments, lastBytes, startProcess, type StartedProcess, WITHOUT_SQLITE } from '@app/extraction';
import { isUnavailable, Semaphore, Unavailable } from '@app/kernel';
import { IdlePool } from '../idle-pool';
import { type Failed, type Frame, framed, FrameReader, type ReadOrder } from './frames';
import { type ParsedSkill, SkillFailure, type SkillFailureCode, type SkillFile, type SkillLimits } from './skill';
import type { SkillText } from './skill-text';

/** What an archive has at one of its `SKILL.md`. */
export type SkillOutcome =
  | { readonly path: string; readonly ok: true; readonly skill: ParsedSkill }
  | { readonly path: string; readonly ok: false; readonly code: SkillFailureCode; readonly message: string };

/** What an archive holds. */
export interface SkillArchive {
  /** One for each `SKILL.md`, in the order of their paths. */
  readonly outcomes: readonly SkillOutcome[];
  /** Paths of files that belong to no Skill. */
  readonly ignored: readonly string[];
}

/** A process that has not ended itself by then is ended, milliseconds. */
const LATEST_MS = 65_000;
/** Of an archive, beside its files. */
const PACKING_BYTES = 1024 ** 2;
const HEAP_MB = 128;
/** How long a process that was started ahead waits for what it is to read. */
const IDLE_MS = 5_000;
/** What is read at once: each takes a core, and holds the bytes of its files. */
const reading = new Semaphore(2);

/** A process that was started ahead, and has read nothing. */
const idle = new IdlePool<StartedProcess>((child) => void child.kill('SIGKILL'), IDLE_MS);
let starting: Promise<void> | undefined;

/** Starts the process that reads the next Skill, while that is still being sent. It ends by itself if nothing comes for five seconds. */
export const expectSkill = (): void => {
  if (!idle.hasIdle) starting ??= startIdle().finally(() => (starting = undefined));
};

const startIdle = async (): Promise<void> => {
  try {
    const child = await startReader();
    for (const handle of handlesOf(child)) handle.unref();
    child.once('exit', () => idle.forget(child));
    child.on('error', () => idle.forget(child));
    idle.keep(child);
  } catch (error) {
    // Whoever reads tries again, and is told.
    if (!isUnavailable(error)) throw error;
  }
};

/** The process that was started ahead, or a new one. */
const takeReader = async (): Promise<StartedProcess> => {
  await starting;
  const child = idle.take();
  if (child === undefined) return startReader();
  for (const handle of handlesOf(child)) handle.ref();
  return child;
};

const handlesOf = (child: StartedProcess) =>
  [child, child.stdin, child.stdout, child.stderr] as readonly (ChildProcess | Socket)[];

const startReader = (): Promise<StartedProcess> => {
  const extension = extname(__filename);
  return startProcess([
    WITHOUT_SQLITE,
    `--max-old-space-size=${HEAP_MB}`,
    ...codeArguments(extension),
    join(__dirname, `read.process${extension}`),
  ]);
};

/**
 * Reads one Skill: a `SKILL.md`, or a zip (`.zip`, `.skill`) with it at the root or in its one folder. In a process apart, which
 * may do nothing and ends at its limits. `onFile` is told of each reference file as soon as it is read; what follows may be wrong yet. Rejects with `SkillFailure`, and `Unavailable` where no process can be started.
 */
export const readSkill = async (
  bytes: Uint8Array,
  filename: string,
  limits: SkillLimits,
  onFile?: (file: SkillFile) => void,
): Promise<ParsedSkill> => {
  const isZip = startsLikeZip(bytes);
  if (!isZip && !/\.(?:md|markdown)$/i.test(filename))
    throw new SkillFailure('invalid_archive', 'This is no zip archive. Send a .md, .zip or .skill file.', { path: '' });
  const { outcomes } = await readLimited(bytes, { read: isZip ? 'skill' : 'text', filename, limits }, onFile);
  const [outcome] = outcomes;
  if (outcome?.ok !== true) throw new Error('the process that reads Skills found none, and did not say why');
  return outcome.skill;
};

/** Reads every Skill of a zip: each `SKILL.md` in it has an outcome. Rejects as `readSkill`, where the archive itself is wrong. */
export const readSkillArchive = async (bytes: Uint8Array, limits: SkillLimits): Promise<SkillArchive> => {
  if (!startsLikeZip(bytes))
    throw new SkillFailure('invalid_archive', 'This is no zip archive. Send a .zip or .skill file.', { path: '' });
  return readLimited(bytes, { read: 'skills', filename: '', limits });
};

type Order = Omit<ReadOrder, 'parent'>;
type OnFile = (file: SkillFile) => void;

const startsLikeZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

const readLimited = async (bytes: Uint8Array, order: Order, onFile?: OnFile): Promise<SkillArchive> => {
  if (bytes.length > order.limits.bytes + PACKING_BYTES)
    throw new SkillFailure('too_large', `This has more than ${order.limits.bytes} bytes. Take some files out.`, {
      path: '',
    });
  return reading.run(() => readApart(bytes, order, onFile));
};

const readApart = async (bytes: Uint8Array, order: Order, onFile?: OnFile): Promise<SkillArchive> => {
  const child = await takeReader();
  const late = setTimeout(() => void child.kill('SIGKILL'), LATEST_MS);
  try {
    // A process that has ended takes no more; why it ended it has said.
    child.stdin.on('error', () => undefined);
    child.stdin.write(framed({ ...order, parent: process.pid }));
    child.stdin.end(bytes);
    const [answer, said] = await Promise.all([
      answerOf(new FrameReader(child.stdout as AsyncIterable<Buffer>), onFile),
      lastBytes(child.stderr),
      started(child),
    ]);
    return answer ?? ended(said);
  } finally {
    clearTimeout(late);
    child.kill('SIGKILL');
  }
};

const started = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('error', () => reject(new Unavailable('parser', 'its process could not be started')));
    child.once('exit', () => resolve());
  });

/** Undefined where the process did not come to its end. */
const answerOf = async (reader: FrameReader, onFile?: OnFile): Promise<SkillArchive | undefined> => {
  const outcomes: SkillOutcome[] = [];
  let ignored: readonly string[] = [];
  let read: { readonly text: SkillText; readonly files: SkillFile[] } | undefined;
  const close = (): void => {
    if (read === undefined) return;
    const { text, files } = read;
    outcomes.push({ path: text.path, ok: true, skill: { ...text, files } });
    read = undefined;
  };
  for (;;) {
    const frame = await reader.frame<Frame>();
    if (frame === undefined) return undefined;
    if ('file' in frame) {
      const bytes = await reader.bytes(frame.file.sizeBytes);
      if (bytes === undefined) return undefined;
      const file = { ...frame.file, bytes };
      read?.files.push(file);
      onFile?.(file);
      continue;
    }
    close();
    if ('end' in frame) return { outcomes, ignored };
    if ('failed' in frame) throw failureOf(frame.failed);
    if ('ignored' in frame) ({ ignored } = frame);
    else if ('skill' in frame) read = { text: frame.skill, files: [] };
    else {
      const { path, ...failed } = frame.failedSkill;
      outcomes.push({ path, ok: false, code: failed.code, message: failureOf(failed).message });
    }
  }
};

const failureOf = ({ code, sentence, fault }: Failed): SkillFailure => new SkillFailure(code, sentence, fault);

/** Of a process that was ended at its limits, or that failed. */
const ended = (said: string): never => {
  if (!/(?:out_of_memory|timed_out)$|heap out of memory/.test(said))
    throw new Error(`the process that reads Skills failed: ${said}`);
  throw new SkillFailure('invalid_archive', 'Reading this takes too much time or memory. Send less.', { path: '' });
};

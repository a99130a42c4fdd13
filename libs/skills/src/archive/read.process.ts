import { createHash } from 'node:crypto';
import { Console } from 'node:console';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { startWatch } from '@app/extraction/threads';
import { type Frame, framed, FrameReader, type ReadOrder } from './frames';
import { everySkill, type FoundSkill, oneSkill } from './layout';
import { isArchive, NESTED } from './nested';
import { mediaTypeOf, referencePathFault } from './paths';
import { fail, SkillFailure, type SkillLimits } from './skill';
import { readSkillText, type SkillText } from './skill-text';
import { filesOfZip } from './zip-directory';

const MIB = 1024 ** 2;
/** Beside what an idle process has. */
const MEMORY_MB = 64;
const CPU_SECONDS = 1;
/** By the clock, on a busy machine. */
const SECONDS = 60;

/** Reads what is on the input, and writes its Skills to the output, or why it is none. */
const main = async (): Promise<void> => {
  const input = await buffer(process.stdin);
  const reader = new FrameReader(asStream(input));
  const order = await reader.frame<ReadOrder>();
  // Started ahead, and nothing came.
  if (order === undefined) return;
  const bytes = input.subarray(4 + input.readUInt32BE(0));
  const sizeMb = bytes.length / MIB;
  const watch = startWatch({
    // An honest archive needs as much again as it is large, and a file of it at a time.
    memoryMb: process.memoryUsage.rss() / MIB + MEMORY_MB + Math.min(4 * sizeMb, MEMORY_MB),
    cpuSeconds: CPU_SECONDS + sizeMb / 10,
    seconds: SECONDS,
    parent: order.parent,
  });
  try {
    await read(bytes, order);
    await write({ end: true });
  } catch (error) {
    if (!(error instanceof SkillFailure)) throw error;
    await write({ failed: failedOf(error) });
  }
  await watch.terminate();
};

async function* asStream(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

const read = async (bytes: Buffer, { read: what, filename, limits }: ReadOrder): Promise<void> => {
  if (what === 'text') return write({ skill: readSkillText(bytes, filename) });
  const files = await filesOfZip(bytes, limits);
  if (what === 'skill') {
    const found = oneSkill(files, limits);
    return writeSkill(found, readSkillText(found.skillFile.read(), found.skillFile.path), limits);
  }
  const { skills, ignored } = everySkill(files);
  for (const found of skills) await writeOutcome(found, limits);
  await write({ ignored });
};

/** A Skill that cannot be read does not keep others from being; an archive that lies of its bytes does. */
const writeOutcome = async (found: FoundSkill, limits: SkillLimits): Promise<void> => {
  const { path } = found.skillFile;
  try {
    const text = readSkillText(found.skillFile.read(), path);
    checkCount(found, limits);
    await writeSkill(found, text, limits);
  } catch (error) {
    if (!(error instanceof SkillFailure) || error.code === 'invalid_archive') throw error;
    await write({ failedSkill: { path, ...failedOf(error) } });
  }
};

const checkCount = ({ skillFile, files }: FoundSkill, limits: SkillLimits): void => {
  if (files.length > limits.files)
    fail('too_large', `The Skill has more than ${limits.files} reference files. Take some out.`, {
      path: skillFile.path,
    });
};

const writeSkill = async (found: FoundSkill, text: SkillText, limits: SkillLimits): Promise<void> => {
  checkCount(found, limits);
  for (const { path, file } of found.files) {
    const fault = referencePathFault(path);
    if (fault !== undefined) fail('invalid_archive', `This file ${fault}`, { path: file.path });
  }
  await write({ skill: text });
  for (const { path, file } of found.files) {
    const bytes = file.read();
    if (isArchive(path, bytes)) fail('invalid_archive', NESTED, { path: file.path });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await write({ file: { path, mediaType: mediaTypeOf(path), sizeBytes: bytes.length, sha256 } }, bytes);
  }
};

const failedOf = ({ code, sentence, fault }: SkillFailure) => ({ code, sentence, fault });

const write = async (frame: Frame, bytes?: Buffer): Promise<void> => {
  for (const piece of bytes === undefined ? [framed(frame)] : [framed(frame), bytes])
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
};

// The output is for frames alone.
globalThis.console = new Console(process.stderr);
void main();

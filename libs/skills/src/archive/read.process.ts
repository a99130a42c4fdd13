import { Console } from 'node:console';
import { bytesOf, startWatch } from '@app/extraction/threads';
import { FrameReader, FrameWriter, type ReadOrder } from './frames';
import { failedOf, skillsIn } from './read-bytes';
import { SkillFailure } from './skill';

const MIB = 1024 ** 2;
/** Beside what an idle process has. */
const MEMORY_MB = 64;
const CPU_SECONDS = 1;
/** What a second of the processor inflates, hashes and sends at least. */
const INFLATED_MB_A_SECOND = 50;
/** By the clock, on a busy machine. */
const SECONDS = 60;

/** Reads what is on the input, and writes its Skills to the output, or why it is none. */
const main = async (): Promise<void> => {
  const input = await bytesOf(process.stdin);
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
  // What was inflated and sent stays in memory until the collector comes.
  const allow = (inflatedBytes: number): void => {
    const inflatedMb = inflatedBytes / MIB;
    watch.allow({ memoryMb: Math.min(inflatedMb, MEMORY_MB), cpuSeconds: inflatedMb / INFLATED_MB_A_SECOND });
  };
  const writer = new FrameWriter(process.stdout);
  try {
    for await (const [frame, body] of skillsIn(bytes, order, allow)) await writer.write(frame, body);
    await writer.write({ end: true });
  } catch (error) {
    if (!(error instanceof SkillFailure)) throw error;
    await writer.write({ failed: failedOf(error) });
  }
  await writer.flush();
  await watch.terminate();
};

async function* asStream(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

// The output is for frames alone.
globalThis.console = new Console(process.stderr);
void main();

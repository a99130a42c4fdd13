import { ExtractionFailure, formatOf, isPlainText, type Parser, type SourceFile } from '@app/extraction';
import { type Chunking, Semaphore, startThread } from '@app/kernel';
import { IngestionFailure } from './ingestion-failure';
import { readDocument, type ReadDocument, type Source } from './read-document';
import type { ReadReply } from './read-document.thread';

/** Bytes up to which cutting takes a few milliseconds, less than a thread needs to start. */
const SMALL = 128 * 1024;
/** Limits of the thread that cuts a text. Words alone take less than half of the memory, a file of nothing but tiny paragraphs nearly all. */
const CUTTING = { memoryMb: 512, timeoutMs: 60_000 };
/** Texts that are cut at once; each takes a core. */
const cutting = new Semaphore(2);

/**
 * Reads a document. Files that need a parser are read in a separate process, which ends with the signal. A large text
 * is cut in a separate thread with limits on memory and time, two at a time, so nothing else waits for it. Throws
 * `IngestionFailure`, and `Unavailable` if no process can be started.
 */
export const readApart = async (
  parser: Pick<Parser, 'read'>,
  file: SourceFile,
  chunking: Chunking | null,
  signal: AbortSignal,
  limits: Partial<typeof CUTTING> = {},
): Promise<ReadDocument> => {
  const cut = (source: Source, bytes: number): Promise<ReadDocument> =>
    bytes <= SMALL
      ? Promise.resolve(readDocument(source, chunking))
      : cutting.run(() => cutApart(source, { chunking, signal, ...CUTTING, ...limits }), signal);
  if (isPlainText(formatOf(file))) return cut({ file }, file.body.byteLength);
  const begun = performance.now();
  const extraction = await extracted(parser, file, signal);
  const parseMs = performance.now() - begun;
  const document = await cut({ extraction }, extraction.byteLength);
  return { ...document, milliseconds: { ...document.milliseconds, parse: Math.round(parseMs) } };
};

const extracted = async (parser: Pick<Parser, 'read'>, file: SourceFile, signal: AbortSignal): Promise<Buffer> => {
  try {
    return await parser.read(file, signal);
  } catch (error) {
    throw error instanceof ExtractionFailure ? new IngestionFailure(error.code) : error;
  }
};

interface Cutting {
  readonly chunking: Chunking | null;
  readonly signal: AbortSignal;
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

const cutApart = async (source: Source, { chunking, signal, memoryMb, timeoutMs }: Cutting): Promise<ReadDocument> => {
  const thread = startThread(__dirname, 'read-document.thread', __filename, {
    workerData: { source, chunking },
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const end = (): void => void thread.terminate();
  signal.addEventListener('abort', end);
  let timer: NodeJS.Timeout | undefined;
  try {
    const reply = await new Promise<ReadReply>((resolve, reject) => {
      timer = setTimeout(() => {
        reject(new IngestionFailure('timed_out'));
        end();
      }, timeoutMs);
      thread.once('message', resolve);
      thread.once('error', (error) => reject(isOutOfMemory(error) ? new IngestionFailure('out_of_memory') : error));
      thread.once('exit', () => reject(new Error('the reading thread ended without an answer')));
    });
    if ('failure' in reply) throw new IngestionFailure(reply.failure);
    return reply.document;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
};

const isOutOfMemory = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';

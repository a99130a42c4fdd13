import { ExtractionFailure, formatOf, isPlainText, type Parser, type SourceFile } from '@app/extraction';
import { type Chunking, startThread } from '@app/kernel';
import { IngestionFailure } from './ingestion-failure';
import { readDocument, type ReadDocument, type Source } from './read-document';
import type { ReadReply } from './read-document.thread';

/** Bytes up to which cutting takes a few milliseconds, less than a thread needs to start. */
const SMALL = 128 * 1024;

/**
 * Reads a document. What needs a parser is read in a process of its own, which ends with the signal; a large text is cut in its
 * own thread, so that nothing else waits for it. Throws `IngestionFailure`, and `Unavailable` where no process can be started.
 */
export const readApart = async (
  parser: Pick<Parser, 'read'>,
  file: SourceFile,
  chunking: Chunking | null,
  signal: AbortSignal,
): Promise<ReadDocument> => {
  if (isPlainText(formatOf(file))) return cutApart({ file }, file.body.byteLength, chunking);
  const begun = performance.now();
  const extraction = await extracted(parser, file, signal);
  const parseMs = performance.now() - begun;
  const document = await cutApart({ extraction }, extraction.byteLength, chunking);
  return { ...document, milliseconds: { ...document.milliseconds, parse: Math.round(parseMs) } };
};

const extracted = async (parser: Pick<Parser, 'read'>, file: SourceFile, signal: AbortSignal): Promise<Buffer> => {
  try {
    return await parser.read(file, signal);
  } catch (error) {
    throw error instanceof ExtractionFailure ? new IngestionFailure(error.code) : error;
  }
};

const cutApart = async (source: Source, bytes: number, chunking: Chunking | null): Promise<ReadDocument> => {
  if (bytes <= SMALL) return readDocument(source, chunking);
  const worker = startThread(__dirname, 'read-document.thread', __filename, { workerData: { source, chunking } });
  const reply = await new Promise<ReadReply>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the reading thread ended without an answer')));
  });
  if ('failure' in reply) throw new IngestionFailure(reply.failure);
  return reply.document;
};

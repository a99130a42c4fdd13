import { type Chunking, startThread } from '@app/kernel';
import { IngestionFailure } from './ingestion-failure';
import { readDocument, type ReadDocument } from './read-document';
import type { ReadReply } from './read-document.thread';

/** Bytes up to which reading takes a few milliseconds, less than a thread needs to start. */
const SMALL = 128 * 1024;

/** Reads a document, a large one in its own thread, so that nothing else waits for it. */
export const readApart = async (body: Buffer, mimeType: string, chunking: Chunking | null): Promise<ReadDocument> => {
  if (body.byteLength <= SMALL) return readDocument(body, mimeType, chunking);
  const worker = startThread(__dirname, 'read-document.thread', __filename, {
    workerData: { body: new Uint8Array(body), mimeType, chunking },
  });
  const reply = await new Promise<ReadReply>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the reading thread ended without an answer')));
  });
  if ('failure' in reply) throw new IngestionFailure(reply.failure);
  return reply.document;
};

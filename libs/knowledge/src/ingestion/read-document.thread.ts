import { parentPort, workerData } from 'node:worker_threads';
import type { Chunking } from '@app/kernel';
import { IngestionFailure, type FailureCode } from './ingestion-failure';
import { readDocument, type ReadDocument, type Source } from './read-document';

export type ReadReply = { readonly document: ReadDocument } | { readonly failure: FailureCode };

const { source, chunking } = workerData as { source: Source; chunking: Chunking | null };

/** Buffers come as plain arrays of bytes. */
const buffered = (given: Source): Source =>
  'file' in given
    ? { file: { ...given.file, body: asBuffer(given.file.body) } }
    : { extraction: asBuffer(given.extraction) };

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

const reply = (): ReadReply => {
  try {
    return { document: readDocument(buffered(source), chunking) };
  } catch (error) {
    if (error instanceof IngestionFailure) return { failure: error.code };
    throw error;
  }
};

parentPort?.postMessage(reply());

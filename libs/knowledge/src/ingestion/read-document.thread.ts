import { parentPort, workerData } from 'node:worker_threads';
import type { Chunking } from '@app/kernel';
import { IngestionFailure, type FailureCode } from './ingestion-failure';
import { readDocument, type ReadDocument } from './read-document';

export type ReadReply = { readonly document: ReadDocument } | { readonly failure: FailureCode };

const { body, mimeType, chunking } = workerData as { body: Uint8Array; mimeType: string; chunking: Chunking | null };

const reply = (): ReadReply => {
  try {
    return { document: readDocument(Buffer.from(body), mimeType, chunking) };
  } catch (error) {
    if (error instanceof IngestionFailure) return { failure: error.code };
    throw error;
  }
};

parentPort?.postMessage(reply());

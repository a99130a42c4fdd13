import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import { EncoderPair } from '../encoder-pair';
import { EncoderProcess } from '../encoder-process';
import type { EmbeddingProvider, EmbeddingRequest, Embeddings } from '../provider';

/** Embeddings that are closed by whoever opened them. */
export type OpenedEmbeddings = EmbeddingProvider & { close(): Promise<void> };

/** How long the second process is kept without work, milliseconds: longer than it takes to store what it made. */
const SECOND_IDLE_MS = 5_000;

/**
 * Small English embeddings that need no network: Universal Sentence Encoder lite on 8-bit integers. Equal texts give equal
 * vectors.
 */
export class LocalEmbeddings implements OpenedEmbeddings {
  private readonly encoders: EncoderPair;

  /** `folder` holds the converted model between runs. `idleMs`: how long its process is kept without work. `cores`: how many there are. */
  constructor(
    folder: string,
    idleMs?: number,
    private readonly cores = availableParallelism(),
  ) {
    const script = join(__dirname, 'use-lite', `encoder.child${extname(__filename)}`);
    const started = (ms?: number): EncoderProcess => new EncoderProcess('local-embedding', script, [folder], ms);
    this.encoders = new EncoderPair(started(idleMs), started(SECOND_IDLE_MS));
  }

  async embed({
    model,
    texts,
    ofMany = false,
    signal,
  }: EmbeddingRequest): Promise<Embeddings & { readonly vectors: readonly Float32Array[] }> {
    return { model, vectors: await this.encoders.encode(texts, ofMany && this.cores > 1, signal) };
  }

  async close(): Promise<void> {
    await this.encoders.close();
  }
}

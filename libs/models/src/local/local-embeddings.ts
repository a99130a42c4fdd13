import { extname, join } from 'node:path';
import { EncoderProcess } from '../encoder-process';
import type { EmbeddingProvider, EmbeddingRequest, Embeddings } from '../provider';

/** Embeddings that are closed by whoever opened them. */
export type OpenedEmbeddings = EmbeddingProvider & { close(): Promise<void> };

/**
 * Small English embeddings that need no network: Universal Sentence Encoder lite on 8-bit integers. Equal texts give equal
 * vectors.
 */
export class LocalEmbeddings implements OpenedEmbeddings {
  private readonly encoder: EncoderProcess;

  /** `folder` holds the converted model between runs. `idleMs`: how long its process is kept without work. */
  constructor(folder: string, idleMs?: number) {
    const script = join(__dirname, 'use-lite', `encoder.child${extname(__filename)}`);
    this.encoder = new EncoderProcess('local-embedding', script, [folder], idleMs);
  }

  async embed({
    model,
    texts,
    signal,
  }: EmbeddingRequest): Promise<Embeddings & { readonly vectors: readonly Float32Array[] }> {
    return { model, vectors: await this.encoder.encode(texts, signal) };
  }

  async close(): Promise<void> {
    await this.encoder.close();
  }
}

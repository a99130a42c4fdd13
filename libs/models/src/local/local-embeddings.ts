import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import { EncoderPair } from '../encoder-pair';
import { EncoderProcess } from '../encoder-process';
import type { EmbeddingProvider, EmbeddingRequest, Embeddings } from '../provider';

/** Embeddings that are closed by whoever opened them. */
export type OpenedEmbeddings = EmbeddingProvider & { close(): Promise<void> };

/** A document with this many passages is long: embedding it takes more than a second. Shorter ones come several at once, which keeps the cores busy. */
const MANY = 128;
/** How long the second process is kept without work, milliseconds: longer than it takes to store what it made. */
const SECOND_IDLE_MS = 5_000;

/**
 * Small English embeddings that need no network: Universal Sentence Encoder lite on 8-bit integers. Equal texts give equal
 * vectors. Passages of documents have processes of their own: questions do not wait for them.
 */
export class LocalEmbeddings implements OpenedEmbeddings {
  private readonly asked: EncoderProcess;
  private readonly documents: EncoderPair;

  /** `folder` holds the converted model between runs. `idleMs`: how long a process is kept without work. `cores`: how many there are. */
  constructor(
    folder: string,
    idleMs?: number,
    private readonly cores = availableParallelism(),
  ) {
    const script = join(__dirname, 'use-lite', `encoder.child${extname(__filename)}`);
    const started = (ms?: number): EncoderProcess => new EncoderProcess('local-embedding', script, [folder], ms);
    this.asked = started(idleMs);
    this.documents = new EncoderPair(started(idleMs), started(SECOND_IDLE_MS));
  }

  async embed({
    model,
    texts,
    inDocument,
    signal,
  }: EmbeddingRequest): Promise<Embeddings & { readonly vectors: readonly Float32Array[] }> {
    const vectors =
      inDocument === undefined
        ? this.asked.encode(texts, signal)
        : this.documents.encode(texts, inDocument >= MANY && this.cores > 1, signal);
    return { model, vectors: await vectors };
  }

  async close(): Promise<void> {
    await Promise.all([this.asked.close(), this.documents.close()]);
  }
}

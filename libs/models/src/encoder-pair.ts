import { isUnavailable } from '@app/kernel';
import type { EncoderProcess } from './encoder-process';

type OneEncoder = Pick<EncoderProcess, 'encode' | 'close'>;

/**
 * Two processes with one model, whose vectors depend on their texts alone. The second one gets half of the texts where they are many, and
 * nothing else: many short documents have the other cores busy as it is.
 */
export class EncoderPair {
  /** What a model prepares at its first use of all, such as a file, is prepared by one process. */
  private isPrepared = false;

  constructor(
    private readonly first: OneEncoder,
    private readonly second: OneEncoder,
  ) {}

  /** One vector for each text, in order. `ofMany`: hundreds follow. Rejects with `Unavailable`, or the signal's reason. */
  async encode(texts: readonly string[], ofMany: boolean, signal: AbortSignal): Promise<readonly Float32Array[]> {
    if (ofMany && texts.length > 1 && this.isPrepared) return this.encodeHalves(texts, signal);
    const vectors = await this.first.encode(texts, signal);
    this.isPrepared = true;
    return vectors;
  }

  async close(): Promise<void> {
    await Promise.all([this.first.close(), this.second.close()]);
  }

  private async encodeHalves(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const half = Math.ceil(texts.length / 2);
    const halves = await Promise.all([
      this.first.encode(texts.slice(0, half), signal),
      this.encodeBeside(texts.slice(half), signal),
    ]);
    return halves.flat();
  }

  /** Where memory is short the second process may be ended at any time, or not come up. Nobody needs it. */
  private async encodeBeside(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    try {
      return await this.second.encode(texts, signal);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return this.first.encode(texts, signal);
    }
  }
}

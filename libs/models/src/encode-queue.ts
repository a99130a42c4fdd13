import { setImmediate as nextTurn } from 'node:timers/promises';

type Vectors = readonly Float32Array[];

interface Job {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  readonly resolve: (vectors: Vectors) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Encodes the texts of many callers in turn: one batch of each, then the next of each. So nobody waits for more than one batch of
 * each other caller before a text of their own is encoded.
 */
export class EncodeQueue {
  private readonly jobs = new Map<number, Job>();
  private isRunning = false;

  /** `encode`: one vector for each text of a batch, of which there are at most `batchSize`. */
  constructor(
    private readonly encode: (texts: readonly string[]) => Promise<Vectors>,
    private readonly batchSize: number,
  ) {}

  /** One vector a text, in order. Rejects with what `encode` throws; never settles once it is cancelled. */
  add(id: number, texts: readonly string[]): Promise<Vectors> {
    return new Promise((resolve, reject) => {
      this.jobs.set(id, { texts, vectors: [], resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  /** Encodes no further text of this caller. */
  cancel(id: number): void {
    this.jobs.delete(id);
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.jobs.size > 0) {
      for (const [id, job] of this.jobs) {
        await this.encodeNext(id, job);
        await nextTurn(); // Hears who comes and who leaves: encoding itself never waits.
      }
    }
    this.isRunning = false;
  }

  private async encodeNext(id: number, { texts, vectors, resolve, reject }: Job): Promise<void> {
    const batch = texts.slice(vectors.length, vectors.length + this.batchSize);
    try {
      if (batch.length > 0) vectors.push(...(await this.encode(batch)));
    } catch (error) {
      this.jobs.delete(id);
      reject(error);
      return;
    }
    if (vectors.length < texts.length) return;
    this.jobs.delete(id);
    resolve(vectors);
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';

type Vectors = readonly Float32Array[];

interface Job {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  readonly resolve: (vectors: Vectors) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Encodes the texts of many callers one at a time and in turn: one text of each, then the next of each. So nobody waits for more
 * than one text of each other caller before a text of their own is encoded.
 */
export class EncodeQueue {
  private readonly jobs = new Map<number, Job>();
  private isRunning = false;

  constructor(private readonly encode: (text: string) => Promise<Float32Array>) {}

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
    const text = texts[vectors.length];
    try {
      if (text !== undefined) vectors.push(await this.encode(text));
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

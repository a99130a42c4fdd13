import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from './errors';
import type { StreamReader } from './log-records';
import { offBudget } from './wait-budget';

/** Pause between two questions to a log that is away or slow, milliseconds. */
const ASK_AGAIN_MS = 100;

/**
 * Remembers that the log was away or slow. Asks until it answers, even if nobody reads: the first reader afterwards
 * must see everything that was acknowledged in the meantime.
 */
export class LogAbsence {
  isAway = false;
  private asking: Promise<void> | undefined;
  private watching: Promise<void> | undefined;

  constructor(
    private readonly log: StreamReader,
    /** Milliseconds after which it is no longer asked and counts as available: the next reader waits for it. */
    private readonly most: number,
  ) {}

  /** It did not answer about a stream. */
  found(stream: string): void {
    this.isAway = true;
    this.watching ??= this.untilBack(stream).finally(() => (this.watching = undefined));
  }

  answered(): void {
    this.isAway = false;
  }

  /** Asks now, one question at a time; never rejects. */
  ask(stream: string): Promise<void> {
    this.asking ??= offBudget(() => this.log.readStream(stream, { direction: 'backwards', limit: 1 }))
      .then(
        () => this.answered(),
        // Still away, or something that whoever reads the stream then will meet again.
        (error: unknown) => void (this.isAway = isUnavailable(error)),
      )
      .finally(() => (this.asking = undefined));
    return this.asking;
  }

  private async untilBack(stream: string): Promise<void> {
    for (const ends = performance.now() + this.most; this.isAway && performance.now() < ends;) {
      await pause(ASK_AGAIN_MS, undefined, { ref: false });
      if (this.isAway) await this.ask(stream);
    }
    this.isAway = false;
  }
}

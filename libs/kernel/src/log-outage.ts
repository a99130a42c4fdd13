import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from './errors';
import type { StreamReader } from './log-records';
import { offBudget } from './wait-budget';

/** Pause between two questions to a log that is away or slow, milliseconds. */
const PROBE_MS = 100;

/**
 * Remembers that the log was away or slow. Asks until it answers, even if nobody reads: the first reader afterwards
 * must see everything that was acknowledged in the meantime.
 */
export class LogOutage {
  isOngoing = false;
  private probing: Promise<void> | undefined;
  private watching: Promise<void> | undefined;

  constructor(
    private readonly log: StreamReader,
    /** Milliseconds after which it is no longer asked and counts as available: the next reader waits for it. */
    private readonly most: number,
  ) {}

  /** It did not answer about a stream. */
  begin(stream: string): void {
    this.isOngoing = true;
    this.watching ??= this.untilBack(stream).finally(() => (this.watching = undefined));
  }

  end(): void {
    this.isOngoing = false;
  }

  /** Asks now, one question at a time; never rejects. */
  probe(stream: string): Promise<void> {
    this.probing ??= offBudget(() => this.log.readStream(stream, { direction: 'backwards', limit: 1 }))
      .then(
        () => this.end(),
        // Still away, or something that whoever reads the stream then will meet again.
        (error: unknown) => void (this.isOngoing = isUnavailable(error)),
      )
      .finally(() => (this.probing = undefined));
    return this.probing;
  }

  private async untilBack(stream: string): Promise<void> {
    for (const ends = performance.now() + this.most; this.isOngoing && performance.now() < ends;) {
      await pause(PROBE_MS, undefined, { ref: false });
      if (this.isOngoing) await this.probe(stream);
    }
    this.isOngoing = false;
  }
}

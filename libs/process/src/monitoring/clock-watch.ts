import { EVENT_LOG, type LogReader } from '@app/event-log';
import { type Clock, CLOCK, errorName, type Logger, LOGGER } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import type { DependencyHealth } from './health';

/** How far the clocks of processes may be apart without a word. */
const APART_MS = 60_000;
/** The last events that are looked at: a process that ran before on the wrong clock has recorded some of them. */
const LAST_EVENTS = 500;

/**
 * Tells that the clock of this machine is behind the log, or was set back since the start. Nothing stops, but by such a
 * clock what expired is valid again, limits stay in the window before, and events are recorded at times that are wrong.
 */
@Injectable()
export class ClockWatch {
  /** The latest time that the log, or this clock, has shown. */
  private latest = 0;
  private reading: Promise<void> | undefined;
  private isTold = false;

  constructor(
    @Inject(EVENT_LOG) private readonly log: Pick<LogReader, 'readAll'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** Reads the end of the log once, and looks at the clock. Never rejects: where the log is away, a later call reads it. */
  async start(): Promise<void> {
    this.reading ??= this.readLog();
    await this.reading;
    this.health();
  }

  /** At once, by what is known. */
  health(): DependencyHealth {
    if (this.reading === undefined) void this.start();
    const now = this.clock.now().getTime();
    const behind = this.latest - now;
    this.latest = Math.max(this.latest, now);
    const isBehind = behind > APART_MS;
    const seconds = Math.round(behind / 1_000);
    if (isBehind && !this.isTold)
      this.logger.warn(
        { seconds },
        'The clock of this machine is behind the last events of the log: it was set back, or was ahead before. Expired credentials may be valid again, and events get wrong times. Set the clock.',
      );
    this.isTold = isBehind;
    return isBehind
      ? { ok: false, reason: `${seconds} s behind the last events of the log: it was set back, or was ahead before` }
      : { ok: true };
  }

  private async readLog(): Promise<void> {
    const { log, logger } = this;
    try {
      const { events } = await log.readAll({ direction: 'backwards', limit: LAST_EVENTS });
      for (const { metadata } of events) this.latest = Math.max(this.latest, recordedAt(metadata));
    } catch (error) {
      this.reading = undefined;
      logger.warn({ error: errorName(error) }, 'Comparing the clock with the log failed.');
    }
  }
}

/** Milliseconds; 0 where an event does not say: anybody who can write to the log wrote it. */
const recordedAt = (metadata: string): number => {
  try {
    const { recordedAt: text } = JSON.parse(metadata) as { readonly recordedAt?: unknown };
    return (typeof text === 'string' && Date.parse(text)) || 0;
  } catch {
    return 0;
  }
};

import { type EventLog, type EventPlace, holdsPlace, lastPlace } from '@app/event-log';
import { errorName, type Logger, type Position } from '@app/kernel';
import type { ReadStore } from '@app/read-store';

type Mark = {
  /** How often the log was found to be another than before. */
  readonly timeline: number;
  /** The last event of the log when it was looked at; null for an empty log. */
  readonly last: EventPlace | null;
};

/** Stored beside the views, because it identifies their log. */
const STATE = 'log-mark';

type States = Pick<ReadStore, 'readState' | 'writeState'>;

/** Which log the views are of: another number once the log was found to be an older backup, behind which it may have gone on. */
export const storedTimeline = async (readStore: Pick<States, 'readState'>): Promise<number> =>
  (await storedMark(readStore))?.timeline ?? 0;

/**
 * Notices at the start and at run time that the log was restored from an older backup, or lost its end. Events that
 * were read after that point are lost, and nothing derived from them may continue. A position alone does not show this,
 * because another event may be there now. So an event of the log, at most a few seconds old, is stored beside the
 * views.
 */
export class LogMark {
  /** As this process knows it. */
  private known: Mark | undefined;
  private verifying: Promise<void> | undefined;
  /** What the log said of itself when this process began to follow it. */
  private followed: number | undefined;

  constructor(
    private readonly log: Pick<EventLog, 'readAll' | 'readStream' | 'head' | 'readIndex'>,
    private readonly readStore: States,
    private readonly logger: Pick<Logger, 'error' | 'warn'>,
  ) {}

  /** Once per start, before any work continues. Throws `Unavailable`; try again then. */
  verify(): Promise<void> {
    this.verifying ??= this.verified().catch((error: unknown) => {
      this.verifying = undefined;
      throw error;
    });
    return this.verifying;
  }

  /**
   * True if the log was replaced since the last call: everything that follows it must start again. Costs nothing
   * otherwise.
   */
  async isOther(): Promise<boolean> {
    const { known, followed } = this;
    const timeline = this.log.readIndex?.timeline;
    if (followed === undefined || timeline === followed) return false;
    this.followed = timeline;
    try {
      const stored = await storedMark(this.readStore);
      // Another process may have found it first.
      if ((stored?.timeline ?? 0) === (known?.timeline ?? 0)) await this.begin(stored);
      else this.known = stored;
    } catch (error) {
      this.followed = followed;
      throw error;
    }
    return true;
  }

  /**
   * Replaces the stored event by a newer one. Called on a timer, with the last known end of the log: a log without new
   * events is not asked.
   */
  async advance(head: Position | null): Promise<void> {
    const { known } = this;
    if (known === undefined || head === (known.last?.position ?? null)) return;
    const next = { ...known, last: await lastPlace(this.log) };
    // Checked after the read, so the result is about the log that is followed.
    await this.log.head();
    if (this.log.readIndex?.timeline !== this.followed) return;
    this.known = (await this.readStore.writeState(STATE, next, { expected: known }))
      ? next
      : await storedMark(this.readStore);
  }

  /** Where that fails, the next start compares with an event a few seconds older. */
  async close(): Promise<void> {
    try {
      await this.advance(await this.log.head());
    } catch (error) {
      this.logger.warn({ error: errorName(error) }, 'Storing the last event of the log failed.');
    }
  }

  private async verified(): Promise<void> {
    const stored = await storedMark(this.readStore);
    await this.log.head();
    this.followed = this.log.readIndex?.timeline;
    if (stored?.last !== undefined && (stored.last === null || (await holdsPlace(this.log, stored.last))))
      this.known = stored;
    else await this.begin(stored);
  }

  /** The views of before are of another log from here on; where nothing was kept yet, of this one. */
  private async begin(stored: Mark | undefined): Promise<void> {
    const next: Mark = { timeline: stored === undefined ? 0 : stored.timeline + 1, last: await lastPlace(this.log) };
    const isMine = await this.readStore.writeState(STATE, next, { expected: stored });
    this.known = isMine ? next : await storedMark(this.readStore);
    if (stored !== undefined)
      this.logger.error(
        { kept: stored.last, end: next.last?.position ?? null },
        'The last known event of the log is gone: the log was restored from an older backup, or its end was cut off or removed. The views are rebuilt from the present log. To see what is missing, run `operator verify --since` with the last seal that you noted.',
      );
  }
}

const storedMark = async (readStore: Pick<States, 'readState'>): Promise<Mark | undefined> =>
  (await readStore.readState(STATE)) as Mark | undefined;

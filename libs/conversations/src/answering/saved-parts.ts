import { reject, retryUntilAnswered } from '@app/kernel';
import { type Continuation, continuationOf } from '../conversation/continuation';
import type { MessagePart } from '../conversation/message-parts';

/** How often what was said is saved, milliseconds: with a moment to wait for and the save itself within the 500 of the wire. */
const EVERY_MS = 460;
/** Answers are saved at the same moments, so that those of a process share commits: at 200 streams ten at a time. */
const MOMENT_MS = 20;

/** Milliseconds from `now` to the moment of the next save, at least `EVERY_MS`. */
export const untilSave = (now: number): number => EVERY_MS + MOMENT_MS - (now % MOMENT_MS);

/** Saves what an answer says while it is said, so that neither its reader nor a process that dies loses it. */
export class SavedParts {
  private latest: readonly MessagePart[];
  /** Of the next save, or of that which runs. A plain one: hundreds of answers save twice a second, and each promise with a signal is much to collect. */
  private timer: NodeJS.Timeout | undefined;
  private saving: Promise<unknown> = Promise.resolve();
  private isTaken = true;
  private isEnded = false;

  /** `save` keeps what is new since it was `saved`, and tells false where nobody waits for the answer any more; what it could not keep is in the next piece. */
  constructor(
    private readonly answerId: string,
    private saved: readonly MessagePart[],
    private readonly save: (more: Continuation) => Promise<boolean>,
    private readonly onFailed: (error: unknown) => void,
  ) {
    this.latest = saved;
  }

  changed(parts: readonly MessagePart[]): void {
    this.latest = parts;
    this.wait();
  }

  /** Resolves when all that was said is saved, however long the log is away. Throws `not_found` where nobody waits for the answer any more. */
  async now(): Promise<void> {
    await retryUntilAnswered(() => this.saveNext());
    if (!this.isTaken) reject('not_found', { kind: 'message', id: this.answerId });
  }

  /** Resolves to what is not saved, when nothing is being saved any more. */
  async end(): Promise<Continuation | undefined> {
    this.isEnded = true;
    clearTimeout(this.timer);
    await this.saving;
    return continuationOf(this.saved, this.latest);
  }

  private wait(): void {
    if (!this.isEnded) this.timer ??= setTimeout(() => void this.due(), untilSave(Date.now()));
  }

  private async due(): Promise<void> {
    let done: readonly MessagePart[] | undefined = this.latest;
    try {
      await this.saveNext();
    } catch (error) {
      this.onFailed(error);
      done = undefined;
    }
    this.timer = undefined;
    // What failed is saved next time, with what was said meanwhile.
    if (this.latest !== done) this.wait();
  }

  /** One behind the other: each piece is what is new since the one before. */
  private saveNext(): Promise<void> {
    const next = this.saving.then(async () => {
      const { latest } = this;
      const more = continuationOf(this.saved, latest);
      if (more === undefined || !this.isTaken) return;
      this.isTaken = await this.save(more);
      this.saved = latest;
    });
    // Whoever asked hears of the failure; the next piece is saved all the same.
    this.saving = next.catch(() => undefined);
    return next;
  }
}

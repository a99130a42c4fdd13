import { reject, retryUntilAnswered } from '@app/kernel';
import { type Continuation, continuationOf } from '../conversation/continuation';
import type { MessagePart } from '../conversation/message-parts';

/** How often an answer is saved, milliseconds: with the wait and the save itself, within the 500 of the wire. */
const EVERY_MS = 460;
/** All answers are saved at the same moments, so those of a process share commits: with 200 streams, ten at a time. */
const MOMENT_MS = 20;

/** Milliseconds from `now` to the moment of the next save, at least `EVERY_MS`. */
export const untilSave = (now: number): number => EVERY_MS + MOMENT_MS - (now % MOMENT_MS);

/** Saves an answer while it streams, so neither its reader nor a dead process loses it. */
export class SavedParts {
  private latest: readonly MessagePart[];
  /**
   * Of the next or the running save. A plain one: hundreds of answers save twice a second, and promises with signals
   * are costly to collect.
   */
  private timer: NodeJS.Timeout | undefined;
  private saving: Promise<unknown> = Promise.resolve();
  private isTaken = true;
  private isEnded = false;

  /**
   * `save` stores what is new since it was `saved`, and returns false if nobody waits for the answer any more. What it
   * could not store is in the next piece.
   */
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

  /**
   * Resolves when everything is saved, however long the log is unavailable. Throws `not_found` if nobody waits for the
   * answer any more.
   */
  async now(): Promise<void> {
    await retryUntilAnswered(() => this.saveNext());
    if (!this.isTaken) reject('not_found', { kind: 'message', id: this.answerId });
  }

  /** Resolves to the unsaved rest, when no save is running any more. */
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

  /** One after the other: each piece is what is new since the previous one. */
  private saveNext(): Promise<void> {
    const next = this.saving.then(async () => {
      const { latest } = this;
      const more = continuationOf(this.saved, latest);
      if (more === undefined || !this.isTaken) return;
      this.isTaken = await this.save(more);
      this.saved = latest;
    });
    // The caller gets the error; the next piece is saved anyway.
    this.saving = next.catch(() => undefined);
    return next;
  }
}

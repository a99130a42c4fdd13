import {
  type AnyEvent,
  type Clock,
  type CommandMeta,
  type EventCodec,
  type Ids,
  type RecordedEvent,
  type StoredEvent,
  type StreamLog,
  streamOf,
} from '@app/kernel';
import { type Account, evolveAccount, UNOPENED } from './account';
import { retryAppend } from '../retry-append';
import type { AccountEvent } from './account.events';
import { SUMMARISED_EVERY, summaryDue } from './summaries';

export interface AccountStreamParts {
  readonly log: StreamLog;
  readonly codec: EventCodec;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The stream of one account, and the account as this process knows it. */
export class AccountStream {
  private account = UNOPENED;
  private revision = -1;
  /** Of the log that the account was read from. */
  private timeline: number | undefined;
  private readonly stream: string;

  constructor(
    private readonly parts: AccountStreamParts,
    limitId: string,
  ) {
    this.stream = streamOf('spendAccount', limitId);
  }

  get state(): Account {
    return this.account;
  }

  /** Folds in what others appended. */
  async advance(): Promise<void> {
    const { log } = this.parts;
    for (;;) {
      const timeline = log.readIndex?.timeline;
      if (timeline !== this.timeline) this.forget(timeline);
      if (!(await this.isLatest())) await this.foldNews();
      if (timeline === log.readIndex?.timeline) return;
    }
  }

  private async isLatest(): Promise<boolean> {
    const { log } = this.parts;
    const end = log.endOf?.(this.stream);
    return (
      (end !== undefined && end <= this.revision) ||
      ((await log.readIndex?.confirm(this.stream, this.revision)) ?? false)
    );
  }

  private forget(timeline: number | undefined): void {
    this.account = UNOPENED;
    this.revision = -1;
    this.timeline = timeline;
  }

  private async foldNews(): Promise<void> {
    const stored = await this.news();
    // The codec has checked them by their types, and this stream holds no other events.
    const events = (await this.parts.codec.decode(stored)) as RecordedEvent<AccountEvent>[];
    // What lies between is in the summary.
    const isAnew = (stored[0]?.revision ?? 0) > this.revision + 1;
    if (isAnew) this.account = UNOPENED;
    for (const event of events) {
      if (event.context.revision <= this.revision) continue;
      this.account = evolveAccount(this.account, event);
      this.revision = event.context.revision;
    }
  }

  /**
   * Appends events that were decided on the present state, however long the log is unavailable; false if others were
   * faster.
   */
  async record(events: readonly AccountEvent[]): Promise<boolean> {
    const next = events.reduce(evolveAccount, this.account);
    const summary = summaryDue(next);
    const written = summary === undefined ? events : [...events, summary];
    const commandId = this.parts.ids.next();
    const meta: CommandMeta = {
      commandId,
      correlationId: commandId,
      actor: 'system:spending',
      now: this.parts.clock.now(),
    };
    const encoded = await this.parts.codec.encode(this.stream, written as readonly AnyEvent[], meta, {});
    const appended = await retryAppend(this.parts.log, this.stream, encoded, this.revision);
    if (appended === undefined) return false;
    this.account = summary === undefined ? next : evolveAccount(next, summary);
    this.revision = appended.revision;
    return true;
  }

  /** All events after the known ones, or the needed part of them if there are many. */
  private async news(): Promise<readonly StoredEvent[]> {
    if (this.revision < 0) return this.sinceSummary();
    const next = await this.parts.log.readStream(this.stream, { from: this.revision + 1, limit: SUMMARISED_EVERY });
    return next.length < SUMMARISED_EVERY ? next : this.sinceSummary();
  }

  /** From the last summary on, or from its first part; read backwards. */
  private async sinceSummary(): Promise<readonly StoredEvent[]> {
    const newestFirst: StoredEvent[] = [];
    let needed = Number.POSITIVE_INFINITY;
    for (;;) {
      const from = newestFirst.at(-1)?.revision;
      if (from === 0) break;
      const page = await this.parts.log.readStream(this.stream, {
        direction: 'backwards',
        limit: SUMMARISED_EVERY,
        ...(from === undefined ? {} : { from: from - 1 }),
      });
      newestFirst.push(...page);
      const summary =
        needed === Number.POSITIVE_INFINITY ? newestFirst.findIndex(({ type }) => type === 'SpendSummarised') : -1;
      if (summary >= 0) needed = summary + 1 + (await this.reachOf(newestFirst[summary] as StoredEvent));
      if (newestFirst.length >= needed || page.length < SUMMARISED_EVERY) break;
    }
    return newestFirst.slice(0, needed).toReversed();
  }

  /** How many events right before a summary belong to it. */
  private async reachOf(summary: StoredEvent): Promise<number> {
    // As in `advance`: checked by its type.
    const [event] = (await this.parts.codec.decode([summary])) as RecordedEvent<AccountEvent>[];
    return event?.type === 'SpendSummarised' ? (event.data.reachesBack ?? 0) : 0;
  }
}

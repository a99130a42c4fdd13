import { type AnyEvent, type Clock, type CommandMeta, type EventCodec, type Ids, type StoredEvent, type StreamLog, streamOf } from '@app/kernel';
import { type Account, evolveAccount, summaryOf, UNOPENED } from './account';
import { appendInsistently } from '../insistent-append';
import type { AccountEvent, Calendar } from './account.events';

/** Events between two summaries; a decision folds no more than these. */
const SUMMARISED_EVERY = 100;
/** While more calls run there is no summary: it would be too large an event. */
const SUMMARISED_HOLDS = 1_000;

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
    const end = this.parts.log.endOf?.(this.stream);
    if (end !== undefined && end <= this.revision) return;
    const stored = this.revision < 0 ? await this.sinceSummary() : await this.parts.log.readStream(this.stream, { from: this.revision + 1 });
    for (const event of await this.parts.codec.decode(stored)) {
      // The codec has checked it by its type, and this stream holds no other events.
      this.account = evolveAccount(this.account, event as unknown as AccountEvent);
      this.revision = event.context.revision;
    }
  }

  /** Appends events that were decided over the state as it stands, however long the log is away; false when others were faster. */
  async append(events: readonly AccountEvent[]): Promise<boolean> {
    const next = events.reduce(evolveAccount, this.account);
    const isLong = next.moves >= SUMMARISED_EVERY && next.holds.size <= SUMMARISED_HOLDS && next.calendar !== null;
    const written = isLong ? [...events, summaryOf({ ...next, calendar: next.calendar as Calendar })] : events;
    const commandId = this.parts.ids.next();
    const meta: CommandMeta = { commandId, correlationId: commandId, actor: 'system:spending', now: this.parts.clock.now() };
    const encoded = await this.parts.codec.encode(this.stream, written as readonly AnyEvent[], meta, {});
    const appended = await appendInsistently(this.parts.log, this.stream, encoded, this.revision);
    if (appended === undefined) return false;
    this.account = isLong ? { ...next, moves: 0 } : next;
    this.revision = appended.revision;
    return true;
  }

  /** From the last summary on, read backwards. */
  private async sinceSummary(): Promise<readonly StoredEvent[]> {
    const newestFirst: StoredEvent[] = [];
    for (;;) {
      const from = newestFirst.at(-1)?.revision;
      if (from === 0) break;
      const page = await this.parts.log.readStream(this.stream, { direction: 'backwards', limit: SUMMARISED_EVERY, ...(from === undefined ? {} : { from: from - 1 }) });
      const summary = page.findIndex(({ type }) => type === 'SpendSummarised');
      newestFirst.push(...(summary < 0 ? page : page.slice(0, summary + 1)));
      if (summary >= 0 || page.length < SUMMARISED_EVERY) break;
    }
    return newestFirst.toReversed();
  }
}

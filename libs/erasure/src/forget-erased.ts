import type { EventLog, Subscription } from '@app/event-log';
import { dataKeyPlace, type Decisions, type EventOf, type Position, storedObject } from '@app/kernel';
import { ContentErased } from './erasure.events';

type Receipt = EventOf<typeof ContentErased>['data'];

/** What `ForgetErased` follows, and what it makes forget. */
export interface ForgetErasedParts {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly decisions: Pick<Decisions, 'forget'>;
  /** Where the log stood before anything was read of it. */
  readonly after: Position | null;
}

/**
 * Forgets what was erased by another process. While the log is away, each process answers from what it remembers: it must not
 * show content whose erasure has its receipt.
 */
export class ForgetErased {
  private subscription: Subscription | undefined;

  constructor(private readonly parts: ForgetErasedParts) {}

  start(): void {
    const { log, decisions, after } = this.parts;
    this.subscription = log.subscribe({
      name: 'forget-erased',
      after,
      filter: { types: [ContentErased.type] },
      // What was remembered of the log before is of no use any more, and what is read of this one since is of its end or behind.
      onRestored: () => undefined,
      onPassed: () => true,
      onEvents: async (receipts) => {
        for (const { data } of receipts)
          // A receipt holds no content, so nothing in it is encrypted. One that somebody damaged keeps no later ones waiting.
          forgetKeys(decisions, (storedObject(data) as Partial<Receipt> | undefined)?.things ?? []);
      },
    });
  }

  async stop(): Promise<void> {
    await this.subscription?.stop();
  }
}

/** Forgets the streams of destroyed data keys. */
export const forgetKeys = (decisions: Pick<Decisions, 'forget'>, keys: readonly string[]): void =>
  keys.forEach((key) => decisions.forget(dataKeyPlace(key).stream));

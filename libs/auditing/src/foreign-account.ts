import type { EventLog, LogPage, Subscription } from '@app/event-log';
import { errorName, type Logger, type Plain, type Position } from '@app/kernel';
import type { ReadStore } from '@app/read-store';

/** What is known of what other programs wrote to the server of the log. */
export interface KnownForeign {
  readonly events: number;
  /** The first of them: its position, and when the server took it (ISO 8601 UTC). */
  readonly since: { readonly position: Position; readonly at: string } | null;
}

/** The account, and up to where it goes. */
type Account = KnownForeign & { readonly upTo: Position | null };

/** Stands beside the views, since it follows from the log as they do. */
const STATE = 'foreign-events';
const NOTHING: Account = { events: 0, since: null, upTo: null };
/** How long a change of the account, and a mere progress, may wait to be stored, milliseconds. */
const CHANGED_MS = 1_000;
const PASSED_MS = 30_000;

type States = Pick<ReadStore, 'readState' | 'writeState'>;

export interface ForeignAccountOptions {
  readonly log: Pick<EventLog, 'readAll' | 'subscribe'>;
  readonly readStore: States;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Injection token of the `ForeignAccount`; undefined where nobody else can write to the log. */
export const FOREIGN_ACCOUNT = Symbol('ForeignAccount');

/** Counts once what others write, so that operators are told without the log being read for it. */
export class ForeignAccount {
  private account = NOTHING;
  private stored = NOTHING;
  private subscription: Subscription | undefined;
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;

  constructor(private readonly options: ForeignAccountOptions) {}

  async start(): Promise<void> {
    const { log, readStore, logger } = this.options;
    const stored = ((await readStore.readState(STATE)) as Plain<Account> | undefined) ?? NOTHING;
    this.account = this.stored = (await isOf(log, stored)) ? stored : NOTHING;
    this.subscription = log.subscribe({
      name: STATE,
      after: this.account.upTo,
      withForeign: true,
      onEvents: async (_events, upTo, page) => this.add(upTo, page?.foreign ?? []),
      onError: (error, attempt) =>
        logger.warn({ attempt, error: errorName(error) }, 'Counting foreign events failed; retrying.'),
    });
  }

  async stop(): Promise<void> {
    await this.subscription?.stop();
    await this.store();
  }

  private add(upTo: Position, foreign: NonNullable<LogPage['foreign']>): void {
    const [first] = foreign;
    const since = this.account.since ?? (first === undefined ? null : { position: first.position, at: first.at });
    this.account = { events: this.account.events + foreign.length, since, upTo };
    this.storeWithin(foreign.length > 0 ? CHANGED_MS : PASSED_MS);
  }

  private storeWithin(milliseconds: number): void {
    const dueAt = performance.now() + milliseconds;
    if (this.timer !== undefined && this.dueAt <= dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = setTimeout(() => void this.store(), milliseconds).unref();
  }

  /** Where the store is away, the next change is stored with this one. */
  private async store(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { account } = this;
    if (account === this.stored) return;
    try {
      await this.options.readStore.writeState(STATE, { ...account });
      this.stored = account;
    } catch (error) {
      this.options.logger.warn({ error: errorName(error) }, 'Storing the count of foreign events failed.');
    }
  }
}

/** What is known by now, whichever process counts. */
export const knownForeign = async (readStore: Pick<States, 'readState'>): Promise<KnownForeign> => {
  const { events, since } = ((await readStore.readState(STATE)) as Plain<Account> | undefined) ?? NOTHING;
  return { events, since };
};

/** Whether an account can be of this log: one that ends before it is another, such as an older backup. */
const isOf = async (log: Pick<EventLog, 'readAll'>, { upTo }: Account): Promise<boolean> => {
  if (upTo === null) return true;
  try {
    await log.readAll({ after: upTo, limit: 1, withForeign: true });
    const end = await log.readAll({ direction: 'backwards', limit: 1, withForeign: true });
    return end.next !== null && end.next >= upTo;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@app/kernel';
import type { ClientSession } from 'mongoose';
import type { Deadlines } from './deadlines';
import { codeOf, hasLabel, isDuplicateKey } from './mongo-errors';

const TRANSACTION_MS = 30_000;
const ABORT_MS = 2_000;
/** Wait this long for other writers, then check whether they are alive. */
const OBSTRUCTED_MS = 250;
const WRITE_CONFLICT = 112;
/** Repeat a transaction for this long after a broken connection or a duplicate key. */
const BROKEN_MS = 5_000;

type Work<T> = (session: ClientSession) => Promise<T>;
type Tried<T> = { readonly value: T } | { readonly error: unknown };

/** Options of a transaction. */
export interface TransactionOptions {
  /** Names what it writes. Transactions of one name run one after the other and share a session. */
  readonly name: string;
  /** Called once when another writer has blocked it for a while. */
  readonly onObstructed: (session: ClientSession) => Promise<void>;
}

/**
 * Runs transactions. Sessions are kept and used again: where the end of a transaction was lost on the way, the
 * server holds on to what it wrote until it times out (60 s), or until the next transaction of the same session begins.
 */
export class Transactions {
  private readonly sessions = new Map<string, ClientSession>();

  constructor(
    private readonly startSession: () => Promise<ClientSession>,
    private readonly deadlines: Deadlines,
  ) {}

  /**
   * Runs work in a transaction, again from the start where another writer was in the way or the connection broke, for a while. The
   * work must do one operation after the other, all of them in the session.
   */
  async run<T>(work: Work<T>, { name, onObstructed }: TransactionOptions): Promise<T> {
    let session = this.sessions.get(name) ?? (await this.startSession());
    this.sessions.delete(name);
    let isAsked = false;
    const started = performance.now();
    for (let attempt = 1; ; attempt += 1) {
      const tried = await this.attempt(session, work, started + TRANSACTION_MS);
      const after = performance.now() - started;
      if ('error' in tried && after < TRANSACTION_MS && isWorthAnother(tried.error, after)) {
        await pause(Math.min(2 ** attempt, 100) * Math.random());
        if (!isAsked && after >= OBSTRUCTED_MS && codeOf(tried.error) === WRITE_CONFLICT) {
          isAsked = true;
          // If this fails, the server ends the other transaction by itself.
          await Promise.allSettled([onObstructed(session)]);
        }
        if (session.inTransaction()) session = await this.replaced(session);
        continue;
      }
      this.sessions.set(
        name,
        session.inTransaction() || after >= TRANSACTION_MS ? await this.replaced(session) : session,
      );
      // The work checks for taken keys. One that it cannot see belongs to an open transaction.
      if ('error' in tried)
        throw isDuplicateKey(tried.error)
          ? this.deadlines.unavailable('another transaction holds a key', tried.error)
          : tried.error;
      return tried.value;
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.sessions.values()].map((session) => session.endSession()));
    this.sessions.clear();
  }

  /** Ends a session: work that still runs in it, such as an unanswered abort, must not meet the next transaction. If that fails, the server ends it. */
  private replaced(session: ClientSession): Promise<ClientSession> {
    void Promise.allSettled([session.endSession()]);
    return this.startSession();
  }

  private async attempt<T>(session: ClientSession, work: Work<T>, until: number): Promise<Tried<T>> {
    session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority', journal: true } });
    try {
      const value = await this.deadlines.within(until - performance.now(), () => work(session), 'none');
      await this.deadlines.within(until - performance.now(), () => committed(session, until), 'unknown');
      return { value };
    } catch (error) {
      // A failed abort is harmless: uncommitted work ends with the next transaction of the session.
      if (session.inTransaction())
        await this.deadlines.within(ABORT_MS, () => session.abortTransaction(), 'none').catch(() => undefined);
      return { error };
    }
  }
}

const isWorthAnother = (error: unknown, after: number): boolean =>
  hasLabel(error, 'TransientTransactionError') ||
  ((isDuplicateKey(error) || (isUnavailable(error) && error.outcome === 'none')) && after < BROKEN_MS);

/** Commits. Repeats the commit, which is safe, until the server says yes or no. Any other error of the driver says neither. */
const committed = async (session: ClientSession, until: number): Promise<void> => {
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      const isAnswer =
        hasLabel(error, 'TransientTransactionError') ||
        (typeof codeOf(error) === 'number' && !hasLabel(error, 'UnknownTransactionCommitResult'));
      if (isAnswer || performance.now() >= until) throw error;
      await pause(50);
    }
  }
};

import { decimalAmount, DomainError, isDomainError, reject, Unavailable, type Uuid } from '@app/kernel';
import type { CallReservation } from './account/account.events';
import type { Answer, Move } from './account/moves';
import type { LimitState } from './account/open-account';
import { estimated, type GrantedReservation, callReservationOf } from './call-reservation';
import type { AppliedLimit } from './limits/limits';
import type { CallToMeter, MeteredCall, Metering } from './metering';
import { Settlements, type SettlementsParts } from './settlements';
import { windowAt } from './windows';

/** A call waits this long for its limits, then throws `Unavailable`. */
const ANSWER_MS = 2_000;
/** A call waits this long for what calls of this process that ended leave over. */
const ENDING_MS = 1_000;

/**
 * Reserve, call, settle. Reserves the highest cost of a call in the account of every limit that applies. After the
 * call, records it in the log and then settles its cost in the accounts. If a process dies in between, others settle
 * its reservations by the records, and write a record for a call without one.
 */
export class Ledger implements Metering {
  private readonly settlements: Settlements;
  private readonly running = new RunningCalls();

  constructor(private readonly parts: SettlementsParts) {
    this.settlements = new Settlements(parts);
  }

  async begin(call: CallToMeter): Promise<MeteredCall> {
    const { ids, clock, limits } = this.parts;
    this.settlements.records.assertCapacity();
    const id = ids.next();
    const at = clock.now();
    const estimate = estimated(call);
    const concerned = estimate === 0n && call.isAskedFor !== true ? [] : await limits.of(call);
    // Where nothing is held, all are asked; where something is, several are before it.
    if (estimate === 0n || concerned.length > 1) await this.ask(id, at, concerned);
    const held =
      estimate === 0n || concerned.length === 0
        ? []
        : await this.hold(id, estimate, at, concerned, callReservationOf(call, at, this.parts.currency));
    const including = held.filter(({ limit }) => limit.includedAmount !== null);
    const isIncludedUsage = including.length > 0 && including.every(({ answer }) => answer.isIncluded);
    const ended = this.running.begin();
    return {
      invocationId: id,
      isHeld: held.length > 0,
      isIncludedUsage,
      cancel: () => {
        for (const { limit } of held) this.settlements.giveBack(limit, id, at);
        ended();
      },
      settle: (settlement) => {
        const settled = this.settlements.settle({ id, at, call, held, isIncludedUsage }, settlement);
        ended();
        return settled;
      },
    };
  }

  /** The present balance of a limit's account. */
  state(limit: AppliedLimit): Promise<LimitState> {
    return this.settlements.accountOf(limit).state(limit.account);
  }

  /** Resolves when every call has ended and is settled, to the number of calls that could not be settled in time. */
  async close(graceMs: number): Promise<number> {
    const late = AbortSignal.timeout(graceMs);
    const running = await this.running.none(late);
    return running + (await this.settlements.close(late));
  }

  /** Throws if a used-up limit rejects, before any reservation under the others, which other callers share. */
  private async ask(id: Uuid, at: Date, limits: readonly AppliedLimit[]): Promise<void> {
    await Promise.all(
      limits.map((limit) =>
        inTime(this.granted(limit, { type: 'ask', id, at: at.getTime(), currency: this.parts.currency }, at)),
      ),
    );
  }

  /** Reserves under all limits, or under none. */
  private async hold(
    id: Uuid,
    estimate: bigint,
    at: Date,
    limits: readonly AppliedLimit[],
    call: CallReservation,
  ): Promise<readonly GrantedReservation[]> {
    const time = at.getTime();
    const asked = limits.map(async (limit): Promise<GrantedReservation> => ({
      limit,
      answer: await this.granted(
        limit,
        { type: 'hold', id, by: this.parts.processes.id, estimate, at: time, call, currency: this.parts.currency },
        at,
      ),
    }));
    const outcomes = await Promise.allSettled(asked.map((each) => inTime(each)));
    const failed = outcomes.filter(({ status }) => status === 'rejected') as readonly PromiseRejectedResult[];
    if (failed.length === 0)
      return (outcomes as readonly PromiseFulfilledResult<GrantedReservation>[]).flatMap(({ value }) =>
        value.answer.isHeld ? [value] : [],
      );
    // Also those that are granted later, when the caller no longer waits.
    for (const each of asked)
      void each.then(
        ({ limit }) => this.settlements.giveBack(limit, id, at),
        () => undefined,
      );
    // A used-up limit is reported before one that could not be asked.
    throw (failed.find(({ reason }) => isDomainError(reason)) ?? failed[0])?.reason;
  }

  /** Rejects where nothing is left, also of what settlements under way leave over. */
  private async granted(
    limit: AppliedLimit,
    move: Extract<Move, { type: 'hold' | 'ask' }>,
    at: Date,
  ): Promise<GrantedReservation['answer']> {
    const deadline = performance.now() + ENDING_MS;
    const endings = this.settlements.endingsUnder(limit);
    for (;;) {
      const { over } = endings;
      const answer = await this.settlements.accountOf(limit).move(limit.account, move);
      if (answer === undefined) throw new Error('nothing was answered');
      if (answer.granted) return answer;
      if (answer.currency !== undefined) return rejectOther(limit, answer.currency);
      const mayChange = endings.underWay.size > 0 || endings.over > over;
      if (!mayChange || answer.spent >= limit.account.terms.amount || performance.now() > deadline)
        return rejectCall(limit, answer, at);
      await Promise.all(endings.underWay);
    }
  }
}

/** Running calls. */
class RunningCalls {
  private count = 0;
  private whenNone: (() => void) | undefined;

  /** Answers what to call when the call has ended. */
  begin(): () => void {
    this.count += 1;
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      this.count -= 1;
      if (this.count === 0) this.whenNone?.();
    };
  }

  /** Resolves when none runs, or at the signal, to how many run. */
  async none(signal: AbortSignal): Promise<number> {
    if (this.count === 0 || signal.aborted) return this.count;
    await new Promise<void>((resolve) => {
      this.whenNone = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return this.count;
  }
}

/** It does not wait: only a change of the limit can help. */
const rejectOther = ({ id, scope, window }: AppliedLimit, currency: string): never =>
  reject('usage_limit_exceeded', { limitId: id, scope: scope.type, window, resetsAt: null, currency });

const rejectCall = (
  { id, scope, window, amount, account }: AppliedLimit,
  { spent, held }: Extract<Answer, { granted: false }>,
  at: Date,
): never => {
  const { resetsAt } = windowAt(account.calendar, at.getTime());
  const seconds =
    resetsAt === null
      ? {}
      : { retryAfterSeconds: Math.max(1, Math.ceil((Date.parse(resetsAt) - at.getTime()) / 1000)) };
  // What others spend under a wider limit is not this caller's to know.
  const sums =
    scope.type === 'user' || scope.type === 'apiKey'
      ? { amount, spent: decimalAmount(spent), held: decimalAmount(held) }
      : {};
  throw new DomainError('usage_limit_exceeded', {
    limitId: id,
    scope: scope.type,
    window,
    resetsAt,
    ...sums,
    ...seconds,
  });
};

const inTime = async <T>(asked: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>(
    (_, reject) =>
      (timer = setTimeout(
        () => reject(new Unavailable('log', 'a usage limit could not be checked in time')),
        ANSWER_MS,
      ).unref()),
  );
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
};

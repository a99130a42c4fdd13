import { decimalAmount, DomainError, isDomainError, Unavailable, type Uuid } from '@app/kernel';
import { costOf, highestCostOf, usageOf } from '@app/models';
import type { HeldCall } from './account/account.events';
import { type AccountParts, OpenAccount, type Standing } from './account/open-account';
import type { Answer, Move } from './account/moves';
import type { RecordedInvocation } from './invocations/invocation.events';
import { LostCalls } from './invocations/lost-calls';
import { UsageRecords } from './invocations/usage-records';
import type { RecordedCost } from './invocations/usage-stream';
import type { AppliedLimit, Limits } from './limits/limits';
import type { CallToMeter, MeteredCall, Metering, Settlement } from './metering';
import { windowAt } from './windows';

/** How long a call waits for its limits to be asked; then it is refused as `Unavailable`. */
const ANSWER_MS = 2_000;
const RETRY_MS = 500;
/** How long a call waits for what others of this process that ended leave over. */
const ENDING_MS = 1_000;

export interface LedgerParts extends Omit<AccountParts, 'recorded'> {
  /** What usage records, complete up to now, say of a call. Throws `Unavailable` while they are not. */
  readonly recorded: (invocationId: string) => Promise<RecordedCost | undefined>;
  readonly limits: Limits;
  readonly currency: string;
  readonly logger: { error(facts: object, message: string): void };
}

interface Endings {
  readonly underWay: Set<Promise<unknown>>;
  /** How many there were. */
  over: number;
}

/** A limit that let a call begin. */
interface Held {
  readonly limit: AppliedLimit;
  readonly answer: Extract<Answer, { granted: true }>;
}

/**
 * Reserve, call, settle. What a call may cost is held in the account of every limit that concerns it; when it has ended its
 * record goes into the log, and then what it cost into the accounts. Whoever dies in between leaves a hold that others end
 * by the record, which they write where the call has none.
 */
export class Ledger implements Metering {
  private readonly accounts = new Map<string, OpenAccount>();
  private readonly records: UsageRecords;
  private readonly accountParts: AccountParts;
  private readonly settling = new Set<Promise<unknown>>();
  /** Settlements by limit: what those under way hold is about to come free. */
  private readonly endings = new Map<string, Endings>();

  constructor(private readonly parts: LedgerParts) {
    this.records = new UsageRecords({ ...parts, processId: parts.processes.id });
    const lostCalls = new LostCalls({ ...parts, onRecorded: (id, call, recorded) => void this.inBackground(id, () => this.countFound(id, call, recorded)) });
    this.accountParts = { ...parts, recorded: (id, hold) => lostCalls.recorded(id, hold) };
  }

  async begin(call: CallToMeter): Promise<MeteredCall> {
    const { ids, clock, limits } = this.parts;
    this.records.demandRoom();
    const id = ids.next();
    const at = clock.now();
    const estimate = estimated(call);
    const concerned = estimate === 0n && call.isAskedFor !== true ? [] : await limits.of(call);
    // Where nothing is held, all are asked; where something is, several are before it.
    if (estimate === 0n || concerned.length > 1) await this.ask(id, at, concerned);
    const held = estimate === 0n || concerned.length === 0 ? [] : await this.hold(id, estimate, at, concerned, heldCallOf(call, at));
    const including = held.filter(({ limit }) => limit.includedAmount !== null);
    const isIncludedUsage = including.length > 0 && including.every(({ answer }) => answer.isIncluded);
    return {
      invocationId: id,
      isHeld: held.length > 0,
      isIncludedUsage,
      cancel: () => held.forEach(({ limit }) => this.giveBack(limit, id, at)),
      settle: (settlement) => this.endingUnder(held.map(({ limit }) => limit), this.inBackground(id, () => this.settled({ id, at, call, held, isIncludedUsage }, settlement))),
    };
  }

  /** Where a limit's account stands now. */
  standing(limit: AppliedLimit): Promise<Standing> {
    return this.accountOf(limit.id, limit).standing(limit.account);
  }

  /**
   * Resolves when every call that ended is settled, to the number of settlements that could not be made within the time: while the
   * log is away they wait for it. What is held for them is set free by others later.
   */
  async close(graceMs: number): Promise<number> {
    const late = AbortSignal.timeout(graceMs);
    const isLate = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve(), { once: true }));
    while (this.settling.size > 0 && !late.aborted) await Promise.race([Promise.all(this.settling), isLate]);
    return this.settling.size;
  }

  /** Throws where a limit that is used up refuses: before anything is held under the others, which are not this caller's alone. */
  private async ask(id: Uuid, at: Date, limits: readonly AppliedLimit[]): Promise<void> {
    await Promise.all(limits.map((limit) => inTime(this.granted(limit, { type: 'ask', id, at: at.getTime() }, at))));
  }

  /** Holds against all limits, or against none. */
  private async hold(id: Uuid, estimate: bigint, at: Date, limits: readonly AppliedLimit[], call: HeldCall): Promise<readonly Held[]> {
    const time = at.getTime();
    const asked = limits.map(async (limit): Promise<Held> => ({ limit, answer: await this.granted(limit, { type: 'hold', id, by: this.parts.processes.id, estimate, at: time, call }, at) }));
    const outcomes = await Promise.allSettled(asked.map((each) => inTime(each)));
    const failed = outcomes.filter(({ status }) => status === 'rejected') as readonly PromiseRejectedResult[];
    if (failed.length === 0) return (outcomes as readonly PromiseFulfilledResult<Held>[]).map(({ value }) => value);
    // Also those that are granted later, when nobody waits any more.
    for (const each of asked) void each.then(({ limit }) => this.giveBack(limit, id, at), () => undefined);
    // A limit that is used up is told before one that could not be asked.
    throw (failed.find(({ reason }) => isDomainError(reason)) ?? failed[0])?.reason;
  }

  /** Refuses where nothing is left, also of what settlements under way leave over. */
  private async granted(limit: AppliedLimit, move: Extract<Move, { type: 'hold' | 'ask' }>, at: Date): Promise<Held['answer']> {
    const patience = performance.now() + ENDING_MS;
    const endings = this.endingsUnder(limit);
    for (;;) {
      const { over } = endings;
      const answer = await this.accountOf(limit.id, limit).move(limit.account, move);
      if (answer === undefined) throw new Error('nothing was answered');
      if (answer.granted) return answer;
      const mayChange = endings.underWay.size > 0 || endings.over > over;
      if (!mayChange || answer.spent >= limit.account.terms.amount || performance.now() > patience) return refuseCall(limit, answer, at);
      await Promise.all(endings.underWay);
    }
  }

  private endingsUnder({ id }: AppliedLimit): Endings {
    let endings = this.endings.get(id);
    if (endings === undefined) this.endings.set(id, (endings = { underWay: new Set(), over: 0 }));
    return endings;
  }

  private async endingUnder(limits: readonly AppliedLimit[], settlement: Promise<void>): Promise<void> {
    for (const limit of limits) this.endingsUnder(limit).underWay.add(settlement);
    await settlement;
    for (const limit of limits) {
      const endings = this.endingsUnder(limit);
      endings.underWay.delete(settlement);
      endings.over += 1;
    }
  }

  private async settled(ended: EndedCall, settlement: Settlement): Promise<void> {
    const { id, held } = ended;
    const cost = costOf(settlement.usage, settlement.model.pricing);
    const recorded = await this.records.record(invocationOf(ended, settlement, cost, this.parts.currency));
    await (recorded.isByOthers ? this.freeAll(id, held.map(({ limit }) => limit), recorded) : this.settleAll(ended, recorded));
  }

  /** Counts a call of a dead process that was recorded here, also under limits where it holds nothing. */
  private async countFound(id: Uuid, call: HeldCall, recorded: RecordedCost): Promise<void> {
    const limits = recorded.cost === 0n ? [] : await this.patiently(id, () => this.parts.limits.of(call));
    await this.freeAll(id, limits, recorded, { at: Date.parse(call.at) });
  }

  /** Ends what is still held for a call that was recorded in the place of its process. */
  private async freeAll(id: Uuid, limits: readonly AppliedLimit[], { cost, position }: RecordedCost, began: { readonly at?: number } = {}): Promise<void> {
    await Promise.all(limits.map((limit) => this.patiently(id, () => this.accountOf(limit.id, limit).move(limit.account, { type: 'free', id, cost, position, ...began }))));
  }

  /** Settles what is held for a call, and under limits that were set while it ran: they count it too. */
  private async settleAll({ id, call, at, held }: EndedCall, { cost, position }: RecordedCost): Promise<void> {
    const now = cost === 0n ? [] : await this.patiently(id, () => this.parts.limits.of(call));
    const limits = new Map([...held.map(({ limit }) => [limit.id, limit] as const), ...now.map((limit) => [limit.id, limit] as const)]);
    await Promise.all([...limits.values()].map((limit) => this.patiently(id, () => this.settleAccount(limit, id, cost, at, position))));
  }

  private giveBack(limit: AppliedLimit, id: Uuid, at: Date): void {
    void this.endingUnder([limit], this.inBackground(id, () => this.patiently(id, () => this.settleAccount(limit, id, 0n, at, null))));
  }

  private settleAccount(limit: AppliedLimit, id: Uuid, cost: bigint, at: Date, position: string | null): Promise<unknown> {
    return this.accountOf(limit.id, limit).move(limit.account, { type: 'settle', id, cost, at: at.getTime(), position });
  }

  /** What is owed to the log is tried until it is there. */
  private async patiently<T>(invocationId: Uuid, work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        this.parts.logger.error({ invocationId, error }, 'a call could not be settled; trying again');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  private async inBackground(invocationId: Uuid, work: () => Promise<unknown>): Promise<void> {
    const running = work().catch((error: unknown) => this.parts.logger.error({ invocationId, error }, 'a call could not be recorded'));
    this.settling.add(running);
    await running;
    this.settling.delete(running);
  }

  private accountOf(limitId: string, limit: AppliedLimit): OpenAccount {
    const known = this.accounts.get(limitId) ?? new OpenAccount(this.accountParts, limit.account);
    this.accounts.set(limitId, known);
    return known;
  }
}

interface EndedCall {
  readonly id: Uuid;
  readonly at: Date;
  readonly call: CallToMeter;
  readonly held: readonly Held[];
  readonly isIncludedUsage: boolean;
}

const invocationOf = ({ id, at, call, isIncludedUsage }: EndedCall, { model, usage, usageSource, outcome, latencyMs }: Settlement, cost: bigint, currency: string): RecordedInvocation => ({
  id,
  at: at.toISOString(),
  kind: call.kind,
  userId: call.userId,
  apiKeyId: call.keyId ?? null,
  agentId: call.agentId ?? null,
  spaceId: call.spaceId ?? null,
  model: model.key,
  priceVersion: model.priceVersion,
  inputTokens: usage.inputTokens,
  cacheReadTokens: usage.inputTokenDetails.cacheReadTokens,
  cacheWriteTokens: usage.inputTokenDetails.cacheWriteTokens,
  outputTokens: usage.outputTokens,
  reasoningTokens: usage.outputTokenDetails.reasoningTokens,
  cost: cost.toString(),
  currency,
  isIncludedUsage,
  usageSource,
  latencyMs,
  outcome,
});

const heldCallOf = ({ kind, userId, keyId, agentId, spaceId, model, estimate: { inputTokens } }: CallToMeter, at: Date): HeldCall => ({
  at: at.toISOString(),
  kind,
  userId,
  ...(keyId === undefined ? {} : { keyId }),
  ...(agentId === undefined ? {} : { agentId }),
  ...(spaceId === undefined ? {} : { spaceId }),
  model: model.key,
  priceVersion: model.priceVersion,
  inputTokens,
  cost: costOf(usageOf({ input: inputTokens }), model.pricing).toString(),
});

const estimated = ({ model, mayAnswer = [], estimate: { inputTokens, outputTokens }, mostInput = 0 }: CallToMeter): bigint => {
  const tokens = { inputTokens: Math.max(inputTokens, mostInput), outputTokens };
  let most = highestCostOf(tokens, model.pricing);
  for (const { pricing } of mayAnswer) {
    const cost = highestCostOf(tokens, pricing);
    if (cost > most) most = cost;
  }
  return most;
};

const refuseCall = ({ id, scope, window, amount, account }: AppliedLimit, { spent, held }: Extract<Answer, { granted: false }>, at: Date): never => {
  const { resetsAt } = windowAt(account.calendar, at.getTime());
  const seconds = resetsAt === null ? {} : { retryAfterSeconds: Math.max(1, Math.ceil((Date.parse(resetsAt) - at.getTime()) / 1000)) };
  // What others spend under a wider limit is not this caller's to know.
  const sums = scope.type === 'user' || scope.type === 'apiKey' ? { amount, spent: decimalAmount(spent), held: decimalAmount(held) } : {};
  throw new DomainError('usage_limit_exceeded', { limitId: id, scope: scope.type, window, resetsAt, ...sums, ...seconds });
};

const inTime = async <T>(asked: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => (timer = setTimeout(() => reject(new Unavailable('log', 'a usage limit could not be asked in time')), ANSWER_MS).unref()));
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
};

import { inReadScope, offBudget, type Uuid } from '@app/kernel';
import type { CallReservation } from './account/account.events';
import type { Move } from './account/moves';
import { type AccountParts, OpenAccount } from './account/open-account';
import type { BegunCall } from './call-reservation';
import { LostCalls } from './invocations/lost-calls';
import { endedCall } from './invocations/recorded-calls';
import { UsageRecords } from './invocations/usage-records';
import type { RecordedCost } from './invocations/usage-stream';
import type { AppliedLimit, Limits } from './limits/limits';
import type { Settlement } from './metering';

const RETRY_MS = 500;

export interface SettlementsParts extends Omit<AccountParts, 'recorded'> {
  /** What usage records, complete up to now, say of a call. Throws `Unavailable` while they are not. */
  readonly recorded: (invocationId: string) => Promise<RecordedCost | undefined>;
  readonly limits: Limits;
  readonly logger: { error(facts: object, message: string): void };
}

/** The settlements under one limit. */
export interface Endings {
  readonly underWay: Set<Promise<unknown>>;
  /** How many there were. */
  over: number;
}

/** Ends calls: records each, then settles it in the accounts of its limits, without making its caller wait. */
export class Settlements {
  readonly records: UsageRecords;
  private readonly accounts = new Map<string, OpenAccount>();
  private readonly accountParts: AccountParts;
  private readonly settling = new Set<Promise<unknown>>();
  private readonly endings = new Map<string, Endings>();

  constructor(private readonly parts: SettlementsParts) {
    this.records = new UsageRecords({ ...parts, processId: parts.processes.id });
    const lostCalls = new LostCalls({
      ...parts,
      onRecorded: (id, call, recorded) => void this.inBackground(id, () => this.countFound(id, call, recorded)),
    });
    this.accountParts = { ...parts, recorded: (id, hold) => lostCalls.recorded(id, hold) };
  }

  accountOf({ id, account }: AppliedLimit): OpenAccount {
    const known = this.accounts.get(id) ?? new OpenAccount(this.accountParts, account);
    this.accounts.set(id, known);
    return known;
  }

  /** Resolves when the call is recorded and settled, however long that takes. */
  settle(ended: BegunCall, settlement: Settlement): Promise<void> {
    const limits = ended.held.map(({ limit }) => limit);
    return this.endingUnder(
      limits,
      this.inBackground(ended.id, () => this.settled(ended, settlement)),
    );
  }

  /**
   * Resolves when every ended call is settled, or at the signal; to the number of unfinished settlements, which wait
   * while the log is unavailable. Others free their reservations later.
   */
  async close(late: AbortSignal): Promise<number> {
    const isLate = new Promise<void>((resolve) =>
      late.aborted ? resolve() : late.addEventListener('abort', () => resolve(), { once: true }),
    );
    while (this.settling.size > 0 && !late.aborted) await Promise.race([Promise.all(this.settling), isLate]);
    return this.settling.size;
  }

  /** Settlements under a limit: what those under way hold is about to come free. */
  endingsUnder({ id }: AppliedLimit): Endings {
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

  private async settled(ended: BegunCall, settlement: Settlement): Promise<void> {
    const { id, held } = ended;
    const recorded = await this.records.record(endedCall(ended, settlement, this.parts.currency));
    await (recorded.isByOthers
      ? this.freeAll(
          id,
          held.map(({ limit }) => limit),
          recorded,
        )
      : this.settleAll(ended, recorded));
  }

  /** Counts a call of a dead process that was recorded here, also under limits where it holds nothing. */
  private async countFound(id: Uuid, call: CallReservation, recorded: RecordedCost): Promise<void> {
    const limits = recorded.cost === 0n ? [] : await this.retry(id, () => this.parts.limits.of(call));
    await this.freeAll(id, limits, recorded, { at: Date.parse(call.at) });
  }

  /** Ends what is still held for a call that was recorded in the place of its process. */
  private async freeAll(
    id: Uuid,
    limits: readonly AppliedLimit[],
    { cost, currency, position }: RecordedCost,
    began: { readonly at?: number } = {},
  ): Promise<void> {
    await Promise.all(
      limits.map((limit) =>
        this.retry(id, () =>
          this.accountOf(limit).move(limit.account, { type: 'free', id, cost, currency, position, ...began }),
        ),
      ),
    );
  }

  /** Settles what is held for a call, and under limits that were set while it ran: they count it too. */
  private async settleAll(
    { id, call, at, held }: BegunCall,
    { cost, currency, position }: RecordedCost,
  ): Promise<void> {
    const now = cost === 0n ? [] : await this.retry(id, () => this.parts.limits.of(call));
    const limits = new Map([
      ...held.map(({ limit }) => [limit.id, limit] as const),
      ...now.map((limit) => [limit.id, limit] as const),
    ]);
    await Promise.all(
      [...limits.values()].map((limit) =>
        this.retry(id, () => this.settleAccount(limit, id, { cost, currency, position }, at)),
      ),
    );
  }

  /** Ends what is held for a call that was not made. */
  giveBack(limit: AppliedLimit, id: Uuid, at: Date): void {
    void this.endingUnder(
      [limit],
      this.inBackground(id, () =>
        this.retry(id, () =>
          this.settleAccount(limit, id, { cost: 0n, currency: this.parts.currency, position: null }, at),
        ),
      ),
    );
  }

  private settleAccount(
    limit: AppliedLimit,
    id: Uuid,
    cost: Pick<Extract<Move, { type: 'settle' }>, 'cost' | 'currency' | 'position'>,
    at: Date,
  ): Promise<unknown> {
    return this.accountOf(limit).move(limit.account, { type: 'settle', id, ...cost, at: at.getTime() });
  }

  /** What is owed to the log is tried until it is there. */
  private async retry<T>(invocationId: Uuid, work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        this.parts.logger.error({ invocationId, error }, 'Settling a model call failed; retrying.');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  private async inBackground(invocationId: Uuid, work: () => Promise<unknown>): Promise<void> {
    // What was set or written while the call ran counts too.
    const running = offBudget(() => inReadScope(work)).catch((error: unknown) =>
      this.parts.logger.error({ invocationId, error }, 'Recording a model call failed.'),
    );
    this.settling.add(running);
    await running;
    this.settling.delete(running);
  }
}

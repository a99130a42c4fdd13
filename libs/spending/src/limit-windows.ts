import { decimalAmount, nanoUnits } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import type { LimitState } from './account/open-account';
import { Ledger } from './ledger';
import { type AppliedLimit, Limits, type Spender } from './limits/limits';

/** Injection token of the `LimitWindows`. */
export const LIMIT_WINDOWS = Symbol('LimitWindows');

/** A limit's window as usage reports show it; amounts are decimals. */
export interface LimitWindow {
  readonly start: string | null;
  readonly resetsAt: string | null;
  readonly limit: string;
  readonly used: string;
  readonly overage: string;
}

/** Spending beyond the included amount, or beyond the limit if nothing is included; nano-units. */
export const overageOf = ({ amount, includedAmount }: AppliedLimit, spent: bigint): bigint => {
  const covered = nanoUnits(includedAmount ?? amount);
  return spent > covered ? spent - covered : 0n;
};

/** Finds the limit of a caller that is the nearest to its end. */
@Injectable()
export class LimitWindows {
  constructor(
    private readonly limits: Limits,
    private readonly ledger: Ledger,
  ) {}

  /**
   * Only for limits of the user and of the key: spending of others under wider limits is not shown. Null if there are
   * none.
   */
  async windowOf({ userId, keyId }: Spender): Promise<LimitWindow | null> {
    const own = (await this.limits.of({ userId, ...(keyId === undefined ? {} : { keyId }) })).filter(
      ({ scope }) => scope.type === 'user' || scope.type === 'apiKey',
    );
    const all = await Promise.all(own.map(async (limit) => ({ limit, state: await this.ledger.state(limit) })));
    // Those of another currency tell nothing of what calls cost now.
    const states = all.filter(({ state }) => state.currency === this.limits.currency);
    const [tightest] = states.toSorted((a, b) => (left(a) < left(b) ? -1 : 1));
    if (tightest === undefined) return null;
    const { limit, state } = tightest;
    return {
      start: state.start,
      resetsAt: state.resetsAt,
      limit: limit.amount,
      used: decimalAmount(state.spent),
      overage: decimalAmount(overageOf(limit, state.spent)),
    };
  }
}

const left = ({ limit, state }: { readonly limit: AppliedLimit; readonly state: LimitState }): bigint =>
  nanoUnits(limit.amount) - state.spent - state.held;

import { decimalAmount, nanoUnits } from '@app/kernel';
import { type AppliedLimit, Ledger, overageOf, type LimitState } from '@app/spending';
import { Injectable } from '@nestjs/common';
import type { ShownLimit } from './cost-control-schemas';

/** Limits as the wire shows them, with where they stand at this moment. */
@Injectable()
export class ShownLimits {
  constructor(private readonly ledger: Ledger) {}

  async show(limit: AppliedLimit): Promise<{ readonly shown: ShownLimit; readonly state: LimitState }> {
    const state = await this.ledger.state(limit);
    return { shown: shownLimit(limit, state), state };
  }
}

const shownLimit = (limit: AppliedLimit, { spent, held, start, resetsAt, currency }: LimitState): ShownLimit => {
  const { id, scope, amount, window, timeZone, action, includedAmount } = limit;
  const left = nanoUnits(amount) - spent - held;
  return {
    id,
    scope: scope.id === null ? { type: scope.type } : { type: scope.type, id: scope.id },
    amount,
    currency,
    window,
    timeZone,
    action,
    ...(includedAmount === null ? {} : { includedAmount }),
    spent: decimalAmount(spent),
    held: decimalAmount(held),
    remaining: decimalAmount(left > 0n ? left : 0n),
    overage: decimalAmount(overageOf(limit, spent)),
    windowStart: start,
    resetsAt,
  };
};

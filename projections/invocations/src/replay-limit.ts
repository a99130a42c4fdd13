import type { ReadStore } from '@app/read-store';
import { earliestWindow, type ProposedLimit, WhatIf, type WhatIfAnswer } from '@app/spending';
import { invocationPages } from './invocation-pages';
import { filterOfScope } from './usage-in';

/** The calls of a currency that began at `from` or later, and before `to`; ISO 8601 UTC. */
export interface ReplayedPeriod {
  readonly from: string;
  readonly to: string;
  readonly currency: string;
}

/**
 * Replays a limit over a period. Reads the calls of the period, and earlier ones in the window that was open.
 * `weekOf`: when a user's weeks begin.
 */
export const replayLimit = async (
  store: Pick<ReadStore, 'find'>,
  limit: ProposedLimit,
  { from, to, currency }: ReplayedPeriod,
  weekOf: (userId: string) => Promise<string | null>,
): Promise<WhatIfAnswer> => {
  const weeks = new Map<string, string | null>();
  const whatIf = new WhatIf(limit, from, (userId) => weeks.get(userId) ?? null);
  const ownWeeks = limit.scope.type === 'user' && limit.window === 'week';
  for await (const rows of invocationPages(
    store,
    { filters: [filterOfScope(limit.scope)], from: earliestWindow(limit, from) ?? '', to },
    { order: 'asc' },
  )) {
    const calls = rows.map(({ row }) => row).filter((row) => row.currency === currency);
    if (ownWeeks) for (const { userId } of calls) if (!weeks.has(userId)) weeks.set(userId, await weekOf(userId));
    for (const call of calls) whatIf.add(call);
  }
  return whatIf.answer();
};

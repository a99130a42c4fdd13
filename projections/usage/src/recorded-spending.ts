import { EVENT_LOG, type LogReader } from '@app/event-log';
import { type Position, Unavailable } from '@app/kernel';
import { Projecting } from '@app/projecting';
import { READ_STORE, type ReadStore } from '@app/read-store';
import type { LimitScope, RecordedSpending } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import { invocations, recordedCost } from '@projections/invocations';
import { spentIn } from './spent-in';
import { DAYS, QUARTERS, type Spans } from './usage-parts';

/** How long a decision waits for usage records to be complete. */
const VIEW_MS = 2_000;

/** What was spent, from the views of calls and of their sums. */
@Injectable()
export class SpendingOfViews implements RecordedSpending {
  constructor(
    @Inject(EVENT_LOG) private readonly log: LogReader,
    @Inject(READ_STORE) private readonly store: ReadStore,
    private readonly projecting: Projecting,
  ) {}

  readonly spentSince = async (
    scope: LimitScope,
    start: string | null,
    currency: string,
  ): Promise<{ readonly spent: bigint; readonly upTo: Position | null }> => {
    const upTo = await this.log.head();
    if (upTo === null) return { upTo, spent: 0n };
    if (!(await this.projecting.waitFor(invocations.name, upTo, VIEW_MS)))
      throw new Unavailable('the view of usage', 'it is behind the log');
    return {
      upTo,
      spent: await spentIn(this.store, { scope, currency }, start, upTo, await sumsUpTo(this.projecting, upTo)),
    };
  };

  readonly recorded: RecordedSpending['recorded'] = async (id) => {
    const head = await this.log.head();
    // A record that waits as a dead letter is one, though no view shows it.
    const gap = head === null ? undefined : await this.projecting.gap(invocations.name, head, VIEW_MS);
    if (gap !== undefined) throw new Unavailable('the view of usage', gap.reason);
    return recordedCost(this.store, id);
  };
}

/** How long the views of sums are waited for: without them every record is read. */
const SUMS_MS = 500;
const SUMS: readonly Spans[] = [DAYS, QUARTERS];

/** The views of sums of calls, the longest spans first, where all show everything up to a position and lack no record; else none. */
export const sumsUpTo = async (
  projecting: Pick<Projecting, 'waitFor' | 'deadLetters'>,
  position: Position,
): Promise<readonly Spans[]> => {
  const reached = await Promise.all(SUMS.map(({ view }) => projecting.waitFor(view, position, SUMS_MS)));
  if (reached.includes(false)) return [];
  const lacking = new Set((await projecting.deadLetters()).map(({ name }) => name));
  return SUMS.some(({ view }) => lacking.has(view)) ? [] : SUMS;
};

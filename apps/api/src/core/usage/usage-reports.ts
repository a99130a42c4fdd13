import type { Caller } from '@app/access';
import { type Clock, CLOCK, type Config, CONFIG, reject } from '@app/kernel';
import { shownSums, type UsageGrouping } from '@app/spending';
import type { InvocationFilter, InvocationRow, WantedInvocations } from '@projections/invocations';
import { ReportUsage } from '@projections/usage';
import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { type AskedRange, rangeOf } from './range-schemas';
import type { ShownReport } from './usage-schemas';

type Asked = AskedRange & InvocationFilter;

/** Usage as a caller may see it: admins see all calls, everybody else their own. What is foreign is left out, as if it were not. */
@Injectable()
export class UsageReports {
  constructor(
    private readonly queries: QueryBus,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The calls that are meant. Rejects `agent_not_granted` for a key without that grant. */
  wanted(caller: Caller, asked: Asked): WantedInvocations {
    const { userId, apiKeyId, agentId, spaceId } = asked;
    if (agentId !== undefined && !caller.allAgents && !caller.agentIds.has(agentId)) return reject('agent_not_granted');
    // Without an end, include the newest: a call that began in this very millisecond counts.
    return {
      filters: [{ userId, apiKeyId, agentId, spaceId }, seenBy(caller)],
      from: this.range(asked).from,
      to: asked.to,
    };
  }

  async report(caller: Caller, asked: Asked & { readonly groupBy: UsageGrouping }): Promise<ShownReport> {
    const { DEFAULT_CURRENCY: currency, DEFAULT_TIME_ZONE } = this.config;
    const report = await this.queries.execute(
      new ReportUsage(this.wanted(caller, asked), asked.groupBy, currency, DEFAULT_TIME_ZONE),
    );
    return { currency, ...this.range(asked), totals: shownSums(report.totals()), items: report.items() };
  }

  /** Whether a call is among those that a caller may see. */
  isSeen(caller: Caller, { userId }: InvocationRow): boolean {
    const { userId: own = userId } = seenBy(caller);
    return userId === own;
  }

  /** Rejects where a caller, as they are now, sees less than they did. */
  assertStill(now: Caller, before: Caller): void {
    if (seenBy(now).userId !== seenBy(before).userId) reject('forbidden', { reason: 'sees_less' });
  }

  private range(asked: AskedRange): { readonly from: string; readonly to: string } {
    return rangeOf(asked, this.clock.now(), this.config.DEFAULT_TIME_ZONE);
  }
}

const seenBy = ({ role, userId }: Caller): InvocationFilter => (role === 'admin' ? {} : { userId });

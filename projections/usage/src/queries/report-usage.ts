import { READ_STORE, type ReadStore } from '@app/read-store';
import { type UsageGrouping, UsageReport } from '@app/spending';
import type { WantedInvocations } from '@projections/invocations';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { DAYS, QUARTERS, usageParts } from '../usage-parts';

/** What calls come to, by group: in one currency, by the days of one time zone. */
export class ReportUsage extends Query<UsageReport> {
  constructor(
    readonly wanted: WantedInvocations,
    readonly groupBy: UsageGrouping,
    readonly currency: string,
    readonly timeZone: string,
  ) {
    super();
  }
}

@QueryHandler(ReportUsage)
export class ReportUsageHandler implements IQueryHandler<ReportUsage> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ wanted, groupBy, currency, timeZone }: ReportUsage): Promise<UsageReport> {
    const report = new UsageReport(groupBy, currency, timeZone);
    for await (const parts of usageParts(
      this.store,
      wanted,
      groupBy === 'day' && timeZone !== 'UTC' ? [QUARTERS] : [DAYS, QUARTERS],
    ))
      for (const part of parts) report.add(part);
    return report;
  }
}

import { RECORDED_SPENDING } from '@app/spending';
import { Module } from '@nestjs/common';
import { ReportUsageHandler } from './queries/report-usage';
import { SpendingOfViews } from './recorded-spending';
import { usage, usageDays } from './usage.projection';

/** The views of sums of model calls. */
@Module({
  providers: [ReportUsageHandler, { provide: RECORDED_SPENDING, useClass: SpendingOfViews }],
  exports: [RECORDED_SPENDING],
})
export class UsageViewModule {
  static readonly projections = [usage, usageDays];
}

export { ReportUsage } from './queries/report-usage';
export { UsageViewModule } from './usage-view.module';

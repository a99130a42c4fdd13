import { ReportUsageHandler } from './queries/report-usage';

export * from './queries/report-usage';
export * from './spent-in';
export * from './usage-parts';
export * from './usage.projection';

export const usageQueryHandlers = [ReportUsageHandler];

import type { Provider, Type } from '@nestjs/common';
import { AgentUsageController } from './agent-usage.controller';
import { UsageController } from './usage.controller';
import { UsageReports } from './usage-reports';

export { orderedRange } from './usage-range';

export const usageControllers: readonly Type[] = [UsageController, AgentUsageController];
export const usageProviders: readonly Provider[] = [UsageReports];

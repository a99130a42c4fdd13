import { AccessModule } from '@app/access';
import { SpendingModule } from '@app/spending';
import { Module } from '@nestjs/common';
import { AgentUsageController } from './agent-usage.controller';
import { UsageController } from './usage.controller';
import { UsageReports } from './usage-reports';

/** Usage reports. */
@Module({
  imports: [AccessModule, SpendingModule],
  controllers: [UsageController, AgentUsageController],
  providers: [UsageReports],
})
export class UsageApiModule {}

import { AccessModule } from '@app/access';
import { SpendingModule } from '@app/spending';
import { Module } from '@nestjs/common';
import { CostControlController } from './cost-control.controller';
import { LimitChanges } from './limit-changes';
import { ShownLimits } from './shown-limits';

/** Limits. */
@Module({
  imports: [AccessModule, SpendingModule],
  controllers: [CostControlController],
  providers: [LimitChanges, ShownLimits],
})
export class CostControlApiModule {}

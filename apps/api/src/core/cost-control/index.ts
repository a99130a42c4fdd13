import type { Provider, Type } from '@nestjs/common';
import { CostControlController } from './cost-control.controller';
import { LimitChanges } from './limit-changes';
import { ShownLimits } from './shown-limits';

export const costControlControllers: readonly Type[] = [CostControlController];
export const costControlProviders: readonly Provider[] = [LimitChanges, ShownLimits];

import { Module } from '@nestjs/common';
import { limits } from './limits.projection';
import { ListLimitsHandler } from './queries/list-limits';

/** The view `limits`. */
@Module({ providers: [ListLimitsHandler] })
export class LimitsViewModule {
  static readonly projections = [limits];
}

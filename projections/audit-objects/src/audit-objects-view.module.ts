import { Module } from '@nestjs/common';
import { auditObjects } from './audit-objects.projection';

/** The view `audit-objects`. */
@Module({})
export class AuditObjectsViewModule {
  static readonly projections = [auditObjects];
}

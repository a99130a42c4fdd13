import type { DeclaredProjection } from '@app/projecting';
import { Module } from '@nestjs/common';
import { auditTrail } from './audit-trail.projection';

/** The view `audit-trail`. */
@Module({})
export class AuditTrailViewModule {
  static readonly projections: readonly DeclaredProjection[] = [
    ({ catalogue }) => auditTrail(catalogue.all().map(({ type }) => type)),
  ];
}

import type { Type } from '@nestjs/common';
import { AuditEventsController } from './audit/audit-events.controller';
import { AuditObjectsController } from './audit/audit-objects.controller';
import { AuditForeignController } from './audit/audit-foreign.controller';
import { AuditSealsController } from './audit/audit-seals.controller';
import { compatControllers } from './compat';
import { costControlControllers } from './core/cost-control';
import { knowledgeControllers } from './core/knowledge';
import { llmControllers } from './core/llm';
import { tenancyControllers } from './core/tenancy-controllers';
import { usageControllers } from './core/usage';
import { DocsController } from './docs/docs.controller';
import { HealthController } from './monitoring/health.controller';
import { MetricsController } from './monitoring/metrics.controller';
import { BlobsController } from './operations/blobs.controller';
import { DeadLettersController } from './operations/dead-letters.controller';
import { ModelsController } from './operations/models.controller';
import { ProjectionsController } from './operations/projections.controller';
import { UsageOperationsController } from './operations/usage.controller';

/** What every process answers, whatever it runs. */
export const monitoringControllers: readonly Type[] = [HealthController, MetricsController];

/** Every controller of the API. Routes, permissions, documentation and the tests over all routes follow from this list. */
export const controllers: readonly Type[] = [
  ...tenancyControllers,
  ...knowledgeControllers,
  ...llmControllers,
  ...usageControllers,
  ...costControlControllers,
  ...compatControllers,
  AuditEventsController,
  AuditObjectsController,
  AuditForeignController,
  AuditSealsController,
  ProjectionsController,
  DeadLettersController,
  BlobsController,
  ModelsController,
  UsageOperationsController,
  ...monitoringControllers,
  DocsController,
];

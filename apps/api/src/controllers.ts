import type { Type } from '@nestjs/common';
import { AuditEventsController } from './audit/audit-events.controller';
import { AuditObjectsController } from './audit/audit-objects.controller';
import { AuditSealsController } from './audit/audit-seals.controller';
import { knowledgeControllers } from './core/knowledge';
import { llmControllers } from './core/llm';
import { tenancyControllers } from './core/tenancy-controllers';
import { DocsController } from './docs/docs.controller';
import { HealthController } from './monitoring/health.controller';
import { MetricsController } from './monitoring/metrics.controller';
import { DeadLettersController } from './operations/dead-letters.controller';
import { ModelsController } from './operations/models.controller';
import { ProjectionsController } from './operations/projections.controller';

/** Every controller of the API. Routes, permissions, documentation and the tests over all routes follow from this list. */
export const controllers: readonly Type[] = [
  ...tenancyControllers,
  ...knowledgeControllers,
  ...llmControllers,
  AuditEventsController,
  AuditObjectsController,
  AuditSealsController,
  ProjectionsController,
  DeadLettersController,
  ModelsController,
  HealthController,
  MetricsController,
  DocsController,
];

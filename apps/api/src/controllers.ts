import type { Type } from '@nestjs/common';
import { DocsController } from './docs/docs.controller';
import { HealthController } from './monitoring/health.controller';
import { MetricsController } from './monitoring/metrics.controller';

/** Every controller of the API. Routes, permissions, documentation and the tests over all routes follow from this list. */
export const controllers: readonly Type[] = [HealthController, MetricsController, DocsController];

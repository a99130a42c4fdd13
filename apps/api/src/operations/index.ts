import type { Type } from '@nestjs/common';
import { DeadLettersController } from './dead-letters.controller';
import { ProjectionsController } from './projections.controller';

export const operationsControllers: readonly Type[] = [ProjectionsController, DeadLettersController];

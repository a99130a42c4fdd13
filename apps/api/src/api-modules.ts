import type { Type } from '@nestjs/common';
import { AuditApiModule } from './audit/audit-api.module';
import { CompatApiModule } from './compat/compat-api.module';
import { AgentsApiModule } from './core/agents/agents-api.module';
import { ApiKeysApiModule } from './core/api-keys/api-keys-api.module';
import { CostControlApiModule } from './core/cost-control/cost-control-api.module';
import { KnowledgeApiModule } from './core/knowledge/knowledge-api.module';
import { LlmApiModule } from './core/llm/llm-api.module';
import { MemoryApiModule } from './core/memory/memory-api.module';
import { SessionApiModule } from './core/session/session-api.module';
import { SkillsApiModule } from './core/skills/skills-api.module';
import { SpacesApiModule } from './core/spaces/spaces-api.module';
import { UsageApiModule } from './core/usage/usage-api.module';
import { UsersApiModule } from './core/users/users-api.module';
import { OperationsApiModule } from './operations/operations-api.module';

/** The API's part of each context. */
export const apiModules: readonly Type[] = [
  UsersApiModule,
  ApiKeysApiModule,
  SessionApiModule,
  SpacesApiModule,
  AgentsApiModule,
  KnowledgeApiModule,
  LlmApiModule,
  SkillsApiModule,
  MemoryApiModule,
  UsageApiModule,
  CostControlApiModule,
  CompatApiModule,
  AuditApiModule,
  OperationsApiModule,
];

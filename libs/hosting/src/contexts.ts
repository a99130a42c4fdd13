import { AccessModule } from '@app/access';
import { AgentsModule } from '@app/agents';
import { AuditingModule } from '@app/auditing';
import { ConversationsModule } from '@app/conversations';
import { ErasureModule } from '@app/erasure';
import { IdentityModule } from '@app/identity';
import type { AggregatesModule } from '@app/kernel';
import { KnowledgeModule } from '@app/knowledge';
import { MemoryModule } from '@app/memory';
import { ModelsModule } from '@app/models';
import { ProjectingModule } from '@app/projecting';
import { RelayModule } from '@app/relay';
import { ReservationsModule } from '@app/reservations';
import { SealingModule } from '@app/sealing';
import { SectionSummariesModule } from '@app/section-summaries';
import { SkillsModule } from '@app/skills';
import { SpacesModule } from '@app/spaces';
import { SpendingModule } from '@app/spending';
import type { Type } from '@nestjs/common';

/** Every module that writes events: the contexts, and the platform services among them. */
export const aggregateModules = [
  ReservationsModule,
  IdentityModule,
  SpacesModule,
  AgentsModule,
  KnowledgeModule,
  SectionSummariesModule,
  ConversationsModule,
  SkillsModule,
  MemoryModule,
  AuditingModule,
  ModelsModule,
  SpendingModule,
  ProjectingModule,
  SealingModule,
  ErasureModule,
] as const satisfies readonly AggregatesModule[];

/** Imported with options of their own. */
const withOptions: readonly Type[] = [ModelsModule, ProjectingModule];

/** What every process imports as it is. */
export const contextModules: readonly Type[] = [
  ...aggregateModules.filter((module) => !withOptions.includes(module)),
  AccessModule,
  RelayModule,
];

import { Aggregates, CONFIG, type Config } from '@app/kernel';
import { PROJECTIONS, projectionsOf, REBUILD_WORKERS, type ViewModule } from '@app/projecting';
import { VAULT_KEY } from '@app/vault';
import { Global, Module } from '@nestjs/common';
import { AgentVersionsViewModule } from '@projections/agent-versions';
import { AgentsViewModule } from '@projections/agents';
import { ApiKeysViewModule } from '@projections/api-keys';
import { AttachmentsViewModule } from '@projections/attachments';
import { AuditObjectsViewModule } from '@projections/audit-objects';
import { AuditTrailViewModule } from '@projections/audit-trail';
import { ConversationsViewModule } from '@projections/conversations';
import { DocumentLogsViewModule } from '@projections/document-logs';
import { DocumentsViewModule } from '@projections/documents';
import { IngestionQueueViewModule } from '@projections/ingestion-queue';
import { InvocationsViewModule } from '@projections/invocations';
import { LimitsViewModule } from '@projections/limits';
import { MemoriesViewModule } from '@projections/memories';
import { MessagesViewModule } from '@projections/messages';
import { NamedBlobsViewModule } from '@projections/named-blobs';
import { PassagesViewModule } from '@projections/passages';
import { PromptsViewModule } from '@projections/prompts';
import { ReindexesViewModule } from '@projections/reindexes';
import { RestatementsViewModule } from '@projections/restatements';
import { SearchedMessagesViewModule } from '@projections/searched-messages';
import { SectionSummariesViewModule } from '@projections/section-summaries';
import { SkillEntriesViewModule } from '@projections/skill-entries';
import { SkillInstallationsViewModule } from '@projections/skill-installations';
import { SkillsViewModule } from '@projections/skills';
import { SpaceMembersViewModule } from '@projections/space-members';
import { SpacesViewModule } from '@projections/spaces';
import { TagsViewModule } from '@projections/tags';
import { UsageViewModule } from '@projections/usage';
import { UsersViewModule } from '@projections/users';
import { observeProjections } from './observed';
import { rebuildWorkers } from './spawn-rebuild-worker';

/** Every view of the product. */
export const viewModules = [
  AgentVersionsViewModule,
  AgentsViewModule,
  ApiKeysViewModule,
  AttachmentsViewModule,
  AuditObjectsViewModule,
  AuditTrailViewModule,
  ConversationsViewModule,
  DocumentLogsViewModule,
  DocumentsViewModule,
  IngestionQueueViewModule,
  InvocationsViewModule,
  LimitsViewModule,
  MemoriesViewModule,
  MessagesViewModule,
  NamedBlobsViewModule,
  PassagesViewModule,
  PromptsViewModule,
  ReindexesViewModule,
  RestatementsViewModule,
  SearchedMessagesViewModule,
  SectionSummariesViewModule,
  SkillEntriesViewModule,
  SkillInstallationsViewModule,
  SkillsViewModule,
  SpaceMembersViewModule,
  SpacesViewModule,
  TagsViewModule,
  UsageViewModule,
  UsersViewModule,
] as const satisfies readonly ViewModule[];

/** Every view, and, everywhere, their projections, what contexts look up in them, and the thread that rebuilds them. */
@Global()
@Module({
  imports: [...viewModules],
  providers: [
    {
      provide: PROJECTIONS,
      inject: [Aggregates],
      useFactory: (aggregates: Aggregates) => observeProjections(projectionsOf(viewModules, aggregates)),
    },
    {
      provide: REBUILD_WORKERS,
      inject: [CONFIG, VAULT_KEY, Aggregates],
      useFactory: (config: Config, vaultKey: string, { catalogue }: Aggregates) =>
        rebuildWorkers(
          { config, vaultKey },
          catalogue.all().map(({ type }) => type),
        ),
    },
  ],
  exports: [...viewModules, PROJECTIONS, REBUILD_WORKERS],
})
export class ViewsModule {}

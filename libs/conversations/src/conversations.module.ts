import { Claims } from '@app/coordination';
import { Parser } from '@app/extraction';
import { type Clock, CLOCK, CONFIG, type Config, Decisions, LOGGER, provideWith, Resources } from '@app/kernel';
import { Models } from '@app/models';
import { UnfinishedWork } from '@app/projecting';
import { type Metering, METERING, SpendingModule } from '@app/spending';
import { Module, type OnModuleInit } from '@nestjs/common';
import { attachmentAggregate } from './attachment/attachment.decider';
import { Attachments } from './attachment/attachments';
import { FileClaims } from './attachment/file-claims';
import { FileReferences } from './attachment/file-references';
import { conversationAggregate } from './conversation/conversation.aggregate';
import { Answerer } from './answering/answerer';
import { BranchContexts } from './answering/branch-context';
import { Compactor } from './answering/compactor';
import { DocumentCopies } from './answering/document-copies';
import { History } from './answering/history';
import { RETRIEVER, type Retriever } from './answering/retriever';
import { ProvenanceReader } from './answering/provenance-reader';
import { Summariser } from './answering/summariser';
import { AGENT_MEMORIES, type AgentMemories } from './answering/memories';
import { AGENT_SKILLS, type AgentSkills } from './answering/skills';
import { AGENT_TOOLS, type AgentTools } from './answering/tools';
import { TurnBeginnings } from './answering/turn-beginnings';
import { Turns } from './answering/turns';
import { Generator } from './generation/generator';
import { MediaGenerator } from './generation/media-generator';
import { ObjectGenerator } from './generation/object-generator';
import { SchemaChecks } from './generation/schema-checks';
import { DeleteConversationHandler } from './conversation/commands/delete-conversation';
import { DeleteMessageHandler } from './conversation/commands/delete-message';
import { GiveFeedbackHandler } from './conversation/commands/give-feedback';
import { UpdateConversationHandler } from './conversation/commands/update-conversation';
import { IncognitoModule } from './incognito.module';
import { DeleteUnnamedAttachments } from './policies/delete-attachments.policy';
import { DeleteConversationsOfTheDeleted } from './policies/delete-conversations.policy';
import { TitleConversations } from './policies/title-conversations.policy';
import { Titler } from './titling/titler';

interface CompactorDependencies {
  readonly history: History;
  readonly decisions: Decisions;
  readonly models: Models;
  readonly metering: Metering;
  readonly config: Config;
  readonly logger: { warn(facts: object, message: string): void };
}

interface TurnParts {
  readonly history: History;
  readonly copies: DocumentCopies;
  readonly compactor: Compactor;
  readonly decisions: Decisions;
  readonly claims: Claims;
  readonly models: Models;
  readonly retriever: Retriever;
  readonly tools: AgentTools;
  readonly attachments: Attachments;
  readonly skills?: AgentSkills | undefined;
  readonly memories?: AgentMemories | undefined;
  readonly metering: Metering;
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

const compactor = ({ history: read, models, metering, config, ...parts }: CompactorDependencies): Compactor =>
  new Compactor({
    ...parts,
    contexts: new BranchContexts(parts.decisions, read),
    summariser: new Summariser(models, metering, config.DEFAULT_CURRENCY),
    models,
    budget: config.CONVERSATION_CONTEXT_TOKENS,
  });

const turns = ({ models, retriever, tools, metering, config, skills, memories, ...parts }: TurnParts): Turns => {
  const { history: read, logger } = parts;
  const catalogTokens = config.SKILL_CATALOG_TOKENS;
  const beginnings = new TurnBeginnings({ models, skills, memories, history: read, catalogTokens, logger });
  return new Turns({
    ...parts,
    answerer: new Answerer({
      models,
      retriever,
      tools,
      beginnings,
      currency: config.DEFAULT_CURRENCY,
      metering,
      logger,
    }),
    beginnings,
  });
};

/** Conversations and their answers, and what Agents generate outside of them. Views provide `CONVERSATIONS_OF` and `RETRIEVER`, hosting `AGENT_TOOLS`; where there are `AGENT_SKILLS` and `AGENT_MEMORIES`, answers have them. */
@Module({
  imports: [SpendingModule, IncognitoModule],
  providers: [
    DeleteConversationHandler,
    DeleteMessageHandler,
    GiveFeedbackHandler,
    UpdateConversationHandler,
    DeleteConversationsOfTheDeleted,
    DeleteUnnamedAttachments,
    TitleConversations,
    Attachments,
    FileReferences,
    FileClaims,
    {
      provide: Parser,
      inject: [CONFIG],
      useFactory: (config: Config) => Parser.of(config),
    },
    DocumentCopies,
    History,
    provideWith(Compactor, compactor, {
      history: History,
      decisions: Decisions,
      models: Models,
      metering: METERING,
      config: CONFIG,
      logger: LOGGER,
    }),
    Titler,
    ProvenanceReader,
    provideWith(Turns, turns, {
      history: History,
      copies: DocumentCopies,
      compactor: Compactor,
      decisions: Decisions,
      claims: Claims,
      models: Models,
      retriever: RETRIEVER,
      tools: AGENT_TOOLS,
      attachments: Attachments,
      skills: { token: AGENT_SKILLS, optional: true },
      memories: { token: AGENT_MEMORIES, optional: true },
      metering: METERING,
      config: CONFIG,
      clock: CLOCK,
      logger: LOGGER,
    }),
    Generator,
    {
      provide: SchemaChecks,
      inject: [Resources],
      useFactory: (resources: Resources) => resources.open(async () => new SchemaChecks()),
    },
    MediaGenerator,
    ObjectGenerator,
  ],
  exports: [
    IncognitoModule,
    Attachments,
    Turns,
    Titler,
    History,
    Compactor,
    Generator,
    ObjectGenerator,
    MediaGenerator,
    ProvenanceReader,
  ],
})
export class ConversationsModule implements OnModuleInit {
  static readonly aggregates = [conversationAggregate, attachmentAggregate];

  constructor(
    private readonly turns: Turns,
    private readonly attachments: Attachments,
    private readonly unfinished: UnfinishedWork,
  ) {}

  onModuleInit(): void {
    this.unfinished.add({ name: 'turns', finish: () => this.turns.closeAbandonedTurns() });
    this.unfinished.add({ name: 'attachments', finish: () => this.attachments.deleteExpired() });
  }
}

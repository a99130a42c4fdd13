import { Claims, COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  CONFIG,
  type Config,
  Decisions,
  EventCodec,
  type Ids,
  IDS,
  LOGGER,
  provideWith,
  type StreamReader,
} from '@app/kernel';
import { Models } from '@app/models';
import { UnfinishedWork } from '@app/projecting';
import { type Metering, METERING, SpendingModule } from '@app/spending';
import { Module, type OnModuleInit } from '@nestjs/common';
import { conversationAggregate } from './conversation/conversation.aggregate';
import { Answerer } from './answering/answerer';
import { History } from './answering/history';
import { RETRIEVER, type Retriever } from './answering/retriever';
import { Turns } from './answering/turns';
import { DeleteConversationHandler } from './conversation/commands/delete-conversation';
import { UpdateConversationHandler } from './conversation/commands/update-conversation';
import { DeleteConversationsOfTheDeleted } from './policies/delete-conversations.policy';

/** A process that has not been heard of for this long is dead, and so are its answers. */
const CLAIM_MS = 5_000;

interface TurnParts {
  readonly log: StreamReader;
  readonly codec: EventCodec;
  readonly decisions: Decisions;
  readonly coordination: CoordinationStore;
  readonly models: Models;
  readonly retriever: Retriever;
  readonly metering: Metering;
  readonly config: Config;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

const turns = ({ models, retriever, metering, config, ids, ...parts }: TurnParts): Turns => {
  const { log, codec, coordination, clock, logger } = parts;
  return new Turns({
    ...parts,
    history: new History(log, codec),
    answerer: new Answerer(models, retriever, config.DEFAULT_CURRENCY, metering, logger),
    claims: new Claims(coordination, clock, ids.next(), CLAIM_MS),
  });
};

/** Conversations and their answers. Views provide `CONVERSATIONS_OF` and `RETRIEVER`. */
@Module({
  imports: [SpendingModule],
  providers: [
    DeleteConversationHandler,
    UpdateConversationHandler,
    DeleteConversationsOfTheDeleted,
    provideWith(Turns, turns, {
      log: EVENT_LOG,
      codec: EventCodec,
      decisions: Decisions,
      coordination: COORDINATION_STORE,
      models: Models,
      retriever: RETRIEVER,
      metering: METERING,
      config: CONFIG,
      ids: IDS,
      clock: CLOCK,
      logger: LOGGER,
    }),
  ],
  exports: [Turns],
})
export class ConversationsModule implements OnModuleInit {
  static readonly aggregates = [conversationAggregate];

  constructor(
    private readonly turns: Turns,
    private readonly unfinished: UnfinishedWork,
  ) {}

  onModuleInit(): void {
    this.unfinished.add({ name: 'turns', finish: () => this.turns.closeAbandonedTurns() });
  }
}

import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { agentDecider } from '../agent.decider';
import { CHAT_MODELS, type ChatModels } from '../chat-models';

/** Configures an Agent as it was at a revision. Refuses with `not_found` for a revision it never had, `conflict` where that model is gone. */
export class RestoreAgent extends Command<Receipt> {
  constructor(
    readonly agentId: string,
    readonly revision: number,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(RestoreAgent)
export class RestoreAgentHandler implements ICommandHandler<RestoreAgent> {
  constructor(
    private readonly decisions: Decisions,
    @Inject(CHAT_MODELS) private readonly models: ChatModels,
  ) {}

  async execute({ agentId, revision, meta }: RestoreAgent): Promise<Receipt> {
    // Versions never change: what it was then is read once, however often the decision is taken.
    const then = await this.decisions.loadAt(agentDecider, agentId, revision);
    const config = then?.status === 'present' ? then.version.config : undefined;
    return this.decisions.transact(
      agentDecider,
      agentId,
      { type: 'Restore', revision, config, isChatModel: (key) => this.models.isChatModel(key) },
      meta,
    );
  }
}

import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { agentDecider } from '../agent.decider';
import { CHAT_MODELS, type ChatModels } from '../chat-models';

/** Restores the configuration of an Agent at a revision. Throws `not_found` for an unknown revision, `conflict` if its model was removed. */
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
    // Versions never change, so one read serves every attempt of the decision.
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

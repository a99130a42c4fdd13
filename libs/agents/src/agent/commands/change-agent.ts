import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { AgentChange } from '../agent-config';
import { agentDecider } from '../agent.decider';
import { CHAT_MODELS, type ChatModels, demandChatModels } from '../chat-models';

/** Changes the fields given. Throws `conflict` for memory on a public Agent, `invalid_body` for a model that is not allowed. */
export class ChangeAgent extends Command<Receipt> {
  constructor(
    readonly agentId: string,
    readonly config: AgentChange,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ChangeAgent)
export class ChangeAgentHandler implements ICommandHandler<ChangeAgent> {
  constructor(
    private readonly decisions: Decisions,
    @Inject(CHAT_MODELS) private readonly models: ChatModels,
  ) {}

  async execute({ agentId, config, meta }: ChangeAgent): Promise<Receipt> {
    demandChatModels(this.models, config);
    return this.decisions.transact(agentDecider, agentId, { type: 'Change', config }, meta);
  }
}

import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { AgentUpdate } from '../agent-config';
import { agentDecider } from '../agent.decider';
import { CHAT_MODELS, type ChatModels, assertChatModels } from '../chat-models';
import { ToolSecrets } from '../tool-secrets';

/** Changes the fields given. Throws `conflict` for memory on a public Agent, `invalid_body` for a model that is not allowed. */
export class UpdateAgent extends Command<Receipt> {
  constructor(
    readonly agentId: string,
    readonly config: AgentUpdate,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateAgent)
export class UpdateAgentHandler implements ICommandHandler<UpdateAgent> {
  constructor(
    private readonly decisions: Decisions,
    @Inject(CHAT_MODELS) private readonly models: ChatModels,
    private readonly secrets: ToolSecrets,
  ) {}

  async execute({ agentId, config, meta }: UpdateAgent): Promise<Receipt> {
    assertChatModels(this.models, config);
    const sealed = await this.secrets.sealed(agentId, config);
    return this.decisions.transact(agentDecider, agentId, { type: 'Update', config: sealed }, meta);
  }
}

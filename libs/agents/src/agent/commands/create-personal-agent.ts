import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { defaultConfig } from '../agent-config';
import { agentDecider } from '../agent.decider';
import { CHAT_MODELS, type ChatModels } from '../chat-models';

/** The id of a user's automatic chat Agent is derived from that of their personal Space. */
export const personalAgentOf = (personalSpaceId: string): string => deriveId(personalSpaceId, 'personal-agent');

/** Creates the chat Agent of a user in their personal Space. Does nothing if it exists. */
export class CreatePersonalAgent extends Command<Receipt> {
  constructor(
    readonly userId: string,
    readonly personalSpaceId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreatePersonalAgent)
export class CreatePersonalAgentHandler implements ICommandHandler<CreatePersonalAgent> {
  constructor(
    private readonly decisions: Decisions,
    @Inject(CHAT_MODELS) private readonly models: ChatModels,
  ) {}

  execute({ userId, personalSpaceId, meta }: CreatePersonalAgent): Promise<Receipt> {
    const agentId = personalAgentOf(personalSpaceId);
    const defaults = defaultConfig('Assistant', this.models.defaultModel);
    const command = {
      type: 'Create',
      agentId,
      spaceId: personalSpaceId,
      ownerId: userId,
      isPersonal: true,
      automatic: true,
      defaults,
      config: {},
    } as const;
    return this.decisions.transact(agentDecider, agentId, command, meta);
  }
}

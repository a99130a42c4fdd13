import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type AgentUpdate, defaultConfig } from '../agent-config';
import { agentDecider } from '../agent.decider';
import { CHAT_MODELS, type ChatModels, assertChatModels } from '../chat-models';
import { ToolSecrets } from '../tool-secrets';

/** The Space of a new Agent. `ownerId` is the user of a personal Space. */
export interface AgentPlace {
  readonly spaceId: string;
  readonly ownerId: string | null;
}

/** The id of the new Agent, and where it is in the log. */
export interface CreatedAgent {
  readonly agentId: string;
  readonly receipt: Receipt;
}

/** Creates an Agent. Without a model it uses the first allowed one, or the default of the instance. */
export class CreateAgent extends Command<CreatedAgent> {
  constructor(
    readonly place: AgentPlace,
    readonly config: AgentUpdate & { readonly name: string },
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreateAgent)
export class CreateAgentHandler implements ICommandHandler<CreateAgent> {
  constructor(
    private readonly decisions: Decisions,
    @Inject(CHAT_MODELS) private readonly models: ChatModels,
    private readonly secrets: ToolSecrets,
  ) {}

  async execute({ place, config, meta }: CreateAgent): Promise<CreatedAgent> {
    assertChatModels(this.models, config);
    const agentId = deriveId(meta.commandId, 'agent');
    const { defaultModel } = this.models;
    const { allowedModels = null } = config;
    const model =
      allowedModels === null || allowedModels.includes(defaultModel)
        ? defaultModel
        : (allowedModels[0] ?? defaultModel);
    const defaults = defaultConfig(config.name, model);
    const { spaceId, ownerId } = place;
    const owner = { spaceId, ...(ownerId === null ? {} : { userId: ownerId }) };
    const command = {
      type: 'Create',
      agentId,
      ...place,
      isPersonal: place.ownerId !== null,
      automatic: false,
      defaults,
      config: await this.secrets.sealed(agentId, config, owner),
    } as const;
    return { agentId, receipt: await this.decisions.transact(agentDecider, agentId, command, meta) };
  }
}

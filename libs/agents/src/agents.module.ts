import { Models } from '@app/models';
import { Module } from '@nestjs/common';
import { agentAggregate } from './agent/agent.aggregate';
import { CHAT_MODELS, type ChatModels } from './agent/chat-models';
import { UpdateAgentHandler } from './agent/commands/update-agent';
import { CreateAgentHandler } from './agent/commands/create-agent';
import { CreatePersonalAgentHandler } from './agent/commands/create-personal-agent';
import { DeleteAgentHandler } from './agent/commands/delete-agent';
import { RestoreAgentHandler } from './agent/commands/restore-agent';
import { ToolSecrets } from './agent/tool-secrets';
import { DeleteAgentsWithTheirSpace } from './policies/delete-agents-with-their-space.policy';
import { MakeAChatAgentInEachPersonalSpace } from './policies/make-a-chat-agent-in-each-personal-space.policy';

const commands = [
  UpdateAgentHandler,
  CreateAgentHandler,
  CreatePersonalAgentHandler,
  DeleteAgentHandler,
  RestoreAgentHandler,
];
const policies = [MakeAChatAgentInEachPersonalSpace, DeleteAgentsWithTheirSpace];

/** Asked of the catalogue each time, since it may be read again. */
const chatModelsOf = (models: Models): ChatModels => ({
  get defaultModel() {
    return models.catalogue.defaultModel;
  },
  isChatModel: (key) => models.catalogue.models.get(key)?.kind === 'chat',
});

/** Agents and their versions. Views provide `AGENTS_OF_SPACE`. */
@Module({
  providers: [
    ToolSecrets,
    ...commands,
    ...policies,
    { provide: CHAT_MODELS, inject: [Models], useFactory: chatModelsOf },
  ],
  exports: [CHAT_MODELS, ToolSecrets],
})
export class AgentsModule {
  static readonly aggregates = [agentAggregate];
}

import { ChangeAgentHandler } from './agent/commands/change-agent';
import { CreateAgentHandler } from './agent/commands/create-agent';
import { CreatePersonalAgentHandler } from './agent/commands/create-personal-agent';
import { DeleteAgentHandler } from './agent/commands/delete-agent';
import { RestoreAgentHandler } from './agent/commands/restore-agent';

/** Every command handler of the context. They need `Decisions` and `CHAT_MODELS`. */
export const agentHandlers = [
  ChangeAgentHandler,
  CreateAgentHandler,
  CreatePersonalAgentHandler,
  DeleteAgentHandler,
  RestoreAgentHandler,
];

import type { Type } from '@nestjs/common';
import { AgentsController } from './agents/agents.controller';
import { AgentVersionsController } from './agents/versions.controller';
import { ApiKeysController } from './api-keys/api-keys.controller';
import { MembersController } from './spaces/members.controller';
import { PromptsController } from './spaces/prompts.controller';
import { SpacesController } from './spaces/spaces.controller';
import { UsersController } from './users/users.controller';

/** Users, API keys, Spaces and Agents. */
export const tenancyControllers: readonly Type[] = [
  UsersController,
  ApiKeysController,
  SpacesController,
  MembersController,
  PromptsController,
  AgentsController,
  AgentVersionsController,
];

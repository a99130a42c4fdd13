import type { Type } from '@nestjs/common';
import { AgentModelsController } from './agent-models.controller';
import { ConversationsController } from './conversations.controller';
import { TurnsController } from './turns.controller';

export const llmControllers: readonly Type[] = [AgentModelsController, ConversationsController, TurnsController];

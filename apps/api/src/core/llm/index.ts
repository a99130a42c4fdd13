import type { Type } from '@nestjs/common';
import { ConversationsController } from './conversations.controller';
import { TurnsController } from './turns.controller';

export const llmControllers: readonly Type[] = [ConversationsController, TurnsController];

import { refuse } from '@app/kernel';
import type { AgentChange } from './agent-config';

/** Injection token of `ChatModels`. */
export const CHAT_MODELS = Symbol('ChatModels');

/** What Agents need to know of the model catalogue. */
export interface ChatModels {
  readonly defaultModel: string;
  isChatModel(key: string): boolean;
}

/** Refuses with `invalid_body` a configuration that names a model which is no chat model of the instance. */
export const demandChatModels = (models: ChatModels, { model, allowedModels }: AgentChange): void => {
  if (model !== undefined && !models.isChatModel(model))
    refuse('invalid_body', { path: 'model', reason: 'unknown_model' });
  if (allowedModels?.every((key) => models.isChatModel(key)) === false)
    refuse('invalid_body', { path: 'allowedModels', reason: 'unknown_model' });
};

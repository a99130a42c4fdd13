import { reject } from '@app/kernel';
import type { AgentUpdate } from './agent-config';

/** Injection token of `ChatModels`. */
export const CHAT_MODELS = Symbol('ChatModels');

/** The part of the model catalogue that Agents need. */
export interface ChatModels {
  readonly defaultModel: string;
  isChatModel(key: string): boolean;
}

/** Throws `invalid_body` if a configuration names a model that is not a chat model of the instance. */
export const assertChatModels = (models: ChatModels, { model, allowedModels }: AgentUpdate): void => {
  if (model !== undefined && !models.isChatModel(model))
    reject('invalid_body', { path: 'model', reason: 'unknown_model' });
  if (allowedModels?.every((key) => models.isChatModel(key)) === false)
    reject('invalid_body', { path: 'allowedModels', reason: 'unknown_model' });
};

import type { ProviderDescription } from '../catalogue';
import type { Provider } from '../provider';
import { OpenAiChat } from './openai-chat';
import { openAiClient } from './openai-client';
import { OpenAiEmbeddings } from './openai-embeddings';

/** A provider that speaks the OpenAI API. Throws `InvalidConfig` when the environment lacks its key. */
export const openAiProvider = (
  name: string,
  description: ProviderDescription,
  environment: Readonly<Record<string, string | undefined>>,
): Provider => {
  const client = openAiClient(name, description, environment);
  return {
    chat: new OpenAiChat(name, client, description.timeoutMs, description.streamOptions),
    embeddings: new OpenAiEmbeddings(name, client, description.timeoutMs),
  };
};

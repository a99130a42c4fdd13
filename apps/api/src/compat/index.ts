import type { Provider, Type } from '@nestjs/common';
import { ChatGateway } from './chat-gateway';
import { CompletionsController } from './completions.controller';
import { EmbeddingsGateway } from './embeddings-gateway';
import { GatewayModelsController } from './gateway-models.controller';
import { RerankGateway } from './rerank-gateway';

export const compatControllers: readonly Type[] = [CompletionsController, GatewayModelsController];
export const compatProviders: readonly Provider[] = [ChatGateway, EmbeddingsGateway, RerankGateway];

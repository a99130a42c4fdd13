import { SpendingModule } from '@app/spending';
import { Module } from '@nestjs/common';
import { ChatGateway } from './chat-gateway';
import { CompletionsController } from './completions.controller';
import { EmbeddingsGateway } from './embeddings-gateway';
import { GatewayModelsController } from './gateway-models.controller';
import { RerankGateway } from './rerank-gateway';

/** The gateway in the common format of chat completions. */
@Module({
  imports: [SpendingModule],
  controllers: [CompletionsController, GatewayModelsController],
  providers: [ChatGateway, EmbeddingsGateway, RerankGateway],
})
export class CompatApiModule {}

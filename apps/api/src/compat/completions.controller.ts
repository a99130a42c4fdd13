import type { Caller } from '@app/access';
import { Models } from '@app/models';
import { Body, Controller, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Accepts, Answers, CurrentCaller, LARGE_JSON_LIMIT, Requires, Summary } from '../http';
import { ChatGateway } from './chat-gateway';
import { fieldsOf, requireString } from './checks';
import { chatBody, chatCompletion, embeddingsBody, embeddingsList, rerankBody, rerankList } from './compat-schemas';
import { EmbeddingsGateway } from './embeddings-gateway';
import { knownModel, modelNotFound } from './known-model';
import { RerankGateway } from './rerank-gateway';
import { invalidBody } from './rerank-parameters';

/** The raw model gateway: no Agent, no Knowledge, no memory stands between a client and a model. */
@Controller('/api/compat/v1')
export class CompletionsController {
  constructor(
    private readonly models: Models,
    private readonly chat: ChatGateway,
    private readonly embedding: EmbeddingsGateway,
    private readonly reranking: RerankGateway,
  ) {}

  @Post('chat/completions')
  @Requires('compat')
  @Summary('Creates a chat completion; with `stream` as Server-Sent Events that end with `data: [DONE]`.')
  @Accepts(chatBody, { limit: LARGE_JSON_LIMIT })
  @Answers(200, chatCompletion)
  complete(@CurrentCaller() caller: Caller, @Body() raw: unknown, @Res() reply: FastifyReply): Promise<void> {
    const body = fieldsOf(raw);
    const model = knownModel(this.models, requireString(body, 'model'), ['chat']);
    return this.chat.answer(caller, model, body, reply);
  }

  @Post('embeddings')
  @Requires('compat')
  @Summary('Embeds one text or up to 2048.')
  @Accepts(embeddingsBody, { limit: LARGE_JSON_LIMIT })
  @Answers(200, embeddingsList)
  embed(
    @CurrentCaller() caller: Caller,
    @Body() raw: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const body = fieldsOf(raw);
    const model = knownModel(this.models, requireString(body, 'model'), ['embedding']);
    return this.embedding.answer(caller, model, body, reply);
  }

  @Post('rerank')
  @Requires('compat')
  @Summary('Scores documents against a query, highest first.')
  @Accepts(rerankBody, { limit: LARGE_JSON_LIMIT })
  @Answers(200, rerankList)
  async rerank(
    @CurrentCaller() caller: Caller,
    @Body() raw: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const body = fieldsOf(raw);
    const id = body['model'] ?? undefined;
    if (typeof id !== 'string') throw invalidBody('model', id === undefined ? 'is missing.' : 'must be a string.');
    if (id !== this.models.catalogue.rerankerModel) throw modelNotFound(id);
    return this.reranking.answer(caller, this.models.reranker, body, reply);
  }
}

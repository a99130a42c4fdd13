import type { Caller } from '@app/access';
import {
  Accepts,
  Answers,
  AnswersAs,
  CurrentCaller,
  Documented,
  LARGE_JSON_LIMIT,
  Requires,
  UncheckedBody,
} from '@app/http';
import { Models } from '@app/models';
import { Controller, Post, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ChatGateway } from './chat-gateway';
import { fieldsOf, requireString } from './checks';
import { chatBody, chatCompletion, embeddingsBody, embeddingsList, rerankBody, rerankList } from './compat-schemas';
import { EmbeddingsGateway } from './embeddings-gateway';
import { knownModel, modelNotFound } from './known-model';
import { RerankGateway } from './rerank-gateway';
import { invalidBody } from './rerank-parameters';

/** The raw model gateway: no Agent, no Knowledge, no memory stands between a client and a model. */
@Documented('Gateway')
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
  @ApiOperation({
    operationId: 'createChatCompletion',
    summary: 'Creates a chat completion. With `stream`, sends Server-Sent Events that end with `data: [DONE]`.',
  })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, chatCompletion)
  @AnswersAs('text/event-stream')
  complete(
    @CurrentCaller() caller: Caller,
    @UncheckedBody(chatBody) raw: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const body = fieldsOf(raw);
    const model = knownModel(this.models, requireString(body, 'model'), ['chat']);
    return this.chat.answer(caller, model, body, reply);
  }

  @Post('embeddings')
  @Requires('compat')
  @ApiOperation({ operationId: 'createEmbeddings', summary: 'Embeds one text or up to 2048.' })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, embeddingsList)
  embed(
    @CurrentCaller() caller: Caller,
    @UncheckedBody(embeddingsBody) raw: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const body = fieldsOf(raw);
    const model = knownModel(this.models, requireString(body, 'model'), ['embedding']);
    return this.embedding.answer(caller, model, body, reply);
  }

  @Post('rerank')
  @Requires('compat')
  @ApiOperation({ operationId: 'rerankDocuments', summary: 'Scores documents against a query, highest first.' })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, rerankList)
  async rerank(
    @CurrentCaller() caller: Caller,
    @UncheckedBody(rerankBody) raw: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const body = fieldsOf(raw);
    const id = body['model'] ?? undefined;
    if (typeof id !== 'string') throw invalidBody('model', id === undefined ? 'is missing.' : 'must be a string.');
    if (id !== this.models.catalogue.rerankerModel) throw modelNotFound(id);
    return this.reranking.answer(caller, this.models.reranker, body, reply);
  }
}

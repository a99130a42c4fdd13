import type { AgentAccess, Caller } from '@app/access';
import { Attachments, Generator, ObjectGenerator, type SourceDocumentPart } from '@app/conversations';
import {
  Accepts,
  Answers,
  BodyInput,
  CurrentCaller,
  Documented,
  type Input,
  InvalidInput,
  type JsonText,
  LARGE_JSON_LIMIT,
  Rejects,
  Requires,
  Writes,
} from '@app/http';
import { Models } from '@app/models';
import { Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { GenerationCalls, REJECTIONS } from './generation-calls';
import { generated, generationOf } from './generation-request';
import {
  generatedObject,
  generatedObjectSchema,
  generatedText,
  objectRequest,
  textRequest,
} from './generation-schemas';
import { MessageSources } from './message-sources';

const OF_MESSAGES = ['system_message_not_allowed', 'not_found', 'too_large'] as const;

/** What Agents generate outside of conversations. */
@Documented('Generation')
@Controller('/api/v1/core/llm/:agentId')
export class GenerationController {
  constructor(
    private readonly calls: GenerationCalls,
    private readonly attachments: Attachments,
    private readonly models: Models,
    private readonly generator: Generator,
    private readonly objects: ObjectGenerator,
    private readonly summaries: MessageSources,
    private readonly writes: Writes,
  ) {}

  @Post('generateText')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({
    operationId: 'generateText',
    summary: "Generates text with an Agent's prompt, model and Knowledge. Does not create or change a conversation.",
  })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, generatedText.schema)
  @Rejects(...REJECTIONS, ...OF_MESSAGES)
  async text(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(textRequest) body: Input<typeof textRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const call = await this.calls.begin(caller, agentId, reply);
    const generation = await generationOf(body.parse(), call, this.models.catalogue, this.attachments);
    const { sources, madeFrom, ...text } = await this.generator.text(generation);
    const json = generatedText({ ...text, sources: await this.shown(call.agent, sources) });
    return this.writes.answerTogether(
      reply,
      [],
      generated(caller, json, { madeFrom, conversationId: generation.conversationId }),
    );
  }

  @Post('generateObject')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({
    operationId: 'generateObject',
    summary:
      "Generates JSON that matches a JSON Schema. If the model's answer does not match, it is asked up to two more times; `usage` covers all its answers.",
  })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, generatedObjectSchema)
  @Rejects(...REJECTIONS, ...OF_MESSAGES, 'no_object_generated')
  async object(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(objectRequest) body: Input<typeof objectRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const call = await this.calls.begin(caller, agentId, reply);
    const { schema, schemaName, ...asked } = body.parse();
    const generation = await generationOf(asked, call, this.models.catalogue, this.attachments);
    const fault = await this.objects.faultOf(schema, { userId: generation.requester.userId, signal: call.signal });
    if (fault !== undefined)
      throw new InvalidInput('invalid_body', [{ path: 'schema', code: 'invalid_schema', message: `It ${fault}.` }]);
    const form = { schema, ...(schemaName === undefined ? {} : { name: schemaName }) };
    const { object, sources, madeFrom, ...rest } = await this.objects.generate(generation, form);
    const json = generatedObject({ ...rest, sources: await this.shown(call.agent, sources) }, { object });
    return this.writes.answerTogether(
      reply,
      [],
      generated(caller, json, { madeFrom, conversationId: generation.conversationId }),
    );
  }

  private shown(agent: AgentAccess, sources: readonly SourceDocumentPart[]) {
    return Promise.all(sources.map((part) => this.summaries.source(agent, part)));
  }
}

import type { Caller } from '@app/access';
import { Access, type AgentAccess } from '@app/access';
import { type AnsweringAgent, type Question, type SourceDocumentPart, type Turn, Turns } from '@app/conversations';
import { type CommandMeta, isErased, reject } from '@app/kernel';
import type { Sampling } from '@app/models';
import { GetConversation } from '@projections/conversations';
import { GetMessage } from '@projections/messages';
import { Controller, Get, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Readable } from 'node:stream';
import {
  Accepts,
  Answers,
  AnswersAs,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  InvalidInput,
  JsonText,
  LARGE_JSON_LIMIT,
  QueryInput,
  reached,
  Reads,
  Rejects,
  Requires,
  written,
} from '@app/http';
import type { z } from 'zod';
import { messageView, newTurn, stopAnswer, streamQuery, turnAnswer } from './conversations-schemas';
import { MessageSummaries } from './message-summaries';
import { parsePlace, type StreamPlace } from './stream-place';
import { UI_STREAM_HEADERS, uiMessageStream } from './ui-message-stream';

const VIEWS = ['conversations', 'messages'];

/** Questions to Agents and their answers. */
@Documented('Conversations')
@Controller('/api/v1/core/llm/:agentId/conversation')
export class TurnsController {
  constructor(
    private readonly access: Access,
    private readonly turns: Turns,
    private readonly queries: QueryBus,
    private readonly summaries: MessageSummaries,
  ) {}

  @Post()
  @Requires('llm')
  @ApiOperation({
    operationId: 'sendMessage',
    summary:
      'Continues or starts a conversation and answers, with `stream` as Server-Sent Events in the UI message format.',
  })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, turnAnswer)
  @AnswersAs('text/event-stream')
  @Rejects(
    'system_message_not_allowed',
    'unsupported_parameter',
    'turn_in_progress',
    'model_not_available',
    'upstream_error',
    'upstream_timeout',
    'usage_limit_exceeded',
  )
  async ask(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(newTurn) body: Input<typeof newTurn>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const agent = await this.access.agent(caller, agentId, 'use');
    const asked = body.parse();
    const turn = await this.turns.ask(questionOf(asked, agent, caller), meta);
    if (!asked.stream) return this.answered(turn, agent, reply);
    return this.streamed(turn, agent, reply);
  }

  @Get(':conversationId/stream')
  @Requires('llm')
  @ApiOperation({
    operationId: 'streamAnswer',
    summary:
      'Streams the running answer, or continues after an event of one that broke off, even if it is finished by now.',
  })
  @ApiHeader({ name: 'last-event-id', description: 'The id of the last event that was received.' })
  @Answers(200)
  @AnswersAs('text/event-stream')
  @Reads('conversations')
  async resume(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @QueryInput(streamQuery) query: Input<typeof streamQuery>,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const agent = await this.access.agent(caller, agentId, 'use');
    await this.queries.execute(new GetConversation(caller.userId, agentId, conversationId));
    const given = query.parse().after ?? lastEventId;
    const after = given === undefined ? undefined : (parsePlace(given) ?? noEventId());
    return this.streamed(await this.turns.resume(conversationId, after?.answerId, meta), agent, reply, after?.place);
  }

  @Post(':conversationId/stop')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({
    operationId: 'stopAnswer',
    summary: 'Stops the running answer and keeps its text. `stopped` is false if none runs.',
  })
  @Answers(200, stopAnswer)
  async stop(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
  ): Promise<JsonText> {
    await this.access.agent(caller, agentId, 'use');
    await this.queries.execute(new GetConversation(caller.userId, agentId, conversationId));
    return new JsonText(JSON.stringify({ stopped: await this.turns.stop(conversationId) }));
  }

  private streamed(turn: Turn, agent: AgentAccess, reply: FastifyReply, after?: StreamPlace): Readable {
    reply.request.mayReadOn = (now) => this.access.agent(now, agent.agentId, 'use');
    const shown = (part: SourceDocumentPart) => this.summaries.source(agent, part);
    void reply.headers(UI_STREAM_HEADERS);
    return uiMessageStream(turn, { settled: (position) => settled(reply, position), shown }, after);
  }

  private async answered(turn: Turn, agent: AgentAccess, reply: FastifyReply) {
    const { conversationId, answer, receipt } = await turn.finished;
    if (answer.status === 'failed') {
      // The failure is an answer too: whoever reads it back finds it.
      await settled(reply.header('x-log-position', receipt.position), receipt.position);
      return reject(answer.errorCode ?? 'internal', { conversationId, messageId: answer.answerId });
    }
    const show = async () => {
      const row = await this.queries.execute(new GetMessage(conversationId, answer.answerId));
      const [shown = row] = await this.summaries.messages(agent, [row]);
      const message = messageView(shown);
      return new JsonText(
        `{"conversationId":${JSON.stringify(conversationId)},"message":${message.text},"usage":${JSON.stringify(answer.usage)}}`,
      );
    };
    return written(reply, receipt, { views: VIEWS, show });
  }
}

/** Waits, at most 2 s, until views show an answer. */
const settled = async ({ server }: FastifyReply, position: string): Promise<void> =>
  void (await reached(server.edge.views, VIEWS, position));

const noEventId = (): never => {
  throw new InvalidInput('invalid_parameter', [
    { path: 'after', code: 'invalid_format', message: 'Must be the id of an event in a streamed answer.' },
  ]);
};

const questionOf = (
  { conversationId, message, parentId, kind = 'normal', stream }: z.output<typeof newTurn>,
  agent: AgentAccess,
  caller: Caller,
): Question => {
  // Incognito content never reaches the log; conversations that live in memory alone come with their own issue.
  if (kind === 'incognito') return reject('unsupported_parameter', { path: 'kind' });
  const role = typeof message === 'string' ? undefined : message.role;
  if (role !== undefined && role !== 'user') return reject('system_message_not_allowed', { path: 'message.role' });
  return {
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(parentId === undefined ? {} : { parentId }),
    userId: caller.userId,
    ...(caller.keyId === undefined ? {} : { keyId: caller.keyId }),
    agent: answeringAgent(agent),
    parts: typeof message === 'string' ? [{ type: 'text', text: message }] : message.parts,
    kind,
    channel: 'api',
    stream,
  };
};

const answeringAgent = ({ agentId, spaceId, agent }: AgentAccess): AnsweringAgent => {
  const { model, systemPrompt, knowledgeEnabled, sampling } = agent.version.config;
  const { temperature, topP, topK } = sampling;
  const values: Sampling = {
    ...valueOf('temperature', temperature),
    ...valueOf('topP', topP),
    ...valueOf('topK', topK),
  };
  return {
    agentId,
    spaceId,
    model,
    systemPrompt: isErased(systemPrompt) ? '' : systemPrompt,
    knowledgeEnabled,
    sampling: values,
  };
};

/** A switched-off control, or one without a value, is the model's own business. */
const valueOf = (
  name: keyof Sampling,
  { enabled, value }: { readonly enabled: boolean; readonly value: number | null },
): Sampling => (enabled && value !== null ? { [name]: value } : {});

import type { Caller } from '@app/access';
import { Access, type AgentAccess } from '@app/access';
import { Attachments, type Participants, type Question, Turns } from '@app/conversations';
import { type CommandMeta, reject } from '@app/kernel';
import { Models } from '@app/models';
import {
  Controller,
  Get,
  Headers,
  HttpCode,
  Param,
  Post,
  Res,
  type StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import {
  Accepts,
  Answers,
  AnswersAs,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  ForwardingInterceptor,
  type Input,
  InvalidInput,
  LARGE_JSON_LIMIT,
  QueryInput,
  Reads,
  Rejects,
  Requires,
} from '@app/http';
import type { z } from 'zod';
import {
  callResponded,
  callResponse,
  CONVERSATIONS,
  newTurn,
  stopAnswer,
  stopQuery,
  streamQuery,
  turnAnswer,
} from './conversations-schemas';
import { answeringAgent } from './answering-agent';
import { usableModel } from './generation-request';
import { IncognitoAnswers } from './incognito-answers';
import { TurnAnswers } from './turn-answers';
import { givenParts, textsAlone } from './question-parts';
import { parsePlace } from './stream-place';

/** Questions to Agents and their answers. */
@Documented('Conversations')
@UseInterceptors(ForwardingInterceptor)
@Controller(CONVERSATIONS)
export class TurnsController {
  constructor(
    private readonly access: Access,
    private readonly turns: Turns,
    private readonly incognito: IncognitoAnswers,
    private readonly answers: TurnAnswers,
    private readonly attachments: Attachments,
    private readonly models: Models,
  ) {}

  @Post()
  @Requires('llm')
  @ApiOperation({
    operationId: 'sendMessage',
    summary:
      'Sends a message to a new or existing conversation, and answers it. With `stream`, sends Server-Sent Events in the UI message format.',
  })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, turnAnswer)
  @AnswersAs('text/event-stream')
  @Rejects(
    'not_found',
    'too_large',
    'unsupported_media_type',
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
    const question = questionOf(asked, agent, caller);
    const given = givenParts(asked.message);
    if (await this.incognito.isAsked(asked, participantsOf(caller, agentId))) {
      const turn = await this.incognito.ask({ ...question, parts: textsAlone(given) }, meta);
      return asked.stream ? this.answers.streamed(turn, agent, reply) : this.incognito.answered(turn, agent, caller);
    }
    const { spaceId } = agent;
    const turn = await this.attachments.asking(given, { ...participantsOf(caller, agentId), spaceId }, meta, (parts) =>
      this.turns.ask({ ...question, parts }, meta),
    );
    return asked.stream ? this.answers.asked(turn, agent, reply) : this.answers.answered(turn, agent, reply);
  }

  @Get(':conversationId/stream')
  @Requires('llm')
  @ApiOperation({
    operationId: 'streamAnswer',
    summary:
      'Streams the running answer, or resumes an interrupted stream after its last event, even if the answer is finished. 204 if none is running and none is named.',
  })
  @ApiHeader({ name: 'last-event-id', description: 'The id of the last event that was received.' })
  @Answers(200)
  @Answers(204)
  @AnswersAs('text/event-stream')
  @Reads()
  async resume(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @QueryInput(streamQuery) query: Input<typeof streamQuery>,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile | undefined> {
    const agent = await this.access.agent(caller, agentId, 'use');
    const { after: given = lastEventId, messageId } = query.parse();
    const after = given === undefined ? undefined : (parsePlace(given) ?? noEventId());
    const [participants, answerId] = [participantsOf(caller, agentId), after?.answerId ?? messageId];
    const turn = this.incognito.has(conversationId)
      ? this.incognito.resume(participants, conversationId, answerId)
      : await this.turns.resume(participants, conversationId, answerId, meta);
    if (turn !== undefined) return this.answers.streamed(turn, agent, reply, after);
    // What clients of the AI SDK expect that resume where nothing is under way.
    void reply.status(204);
    return undefined;
  }

  @Post(':conversationId/stop')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({
    operationId: 'stopAnswer',
    summary: 'Stops the running answer and keeps its text. `stopped` is false if none was running.',
  })
  @Answers(200, stopAnswer)
  async stop(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @QueryInput(stopQuery) query: Input<typeof stopQuery>,
    @CommandContext({ hasEtag: false }) meta: CommandMeta,
  ): Promise<z.output<typeof stopAnswer>> {
    await this.access.agent(caller, agentId, 'use');
    const { messageId } = query.parse();
    const stopping = this.incognito.has(conversationId) ? this.incognito : this.turns;
    const stopped = await stopping.stop(participantsOf(caller, agentId), conversationId, messageId, meta);
    return { stopped };
  }

  @Post(':conversationId/messages/:messageId/tools/:callId')
  @HttpCode(202)
  @Requires('llm')
  @ApiOperation({
    operationId: 'respondToToolCall',
    summary: 'Approves or denies a tool call that an answer waits for. After the last one, the answer continues.',
  })
  @Answers(202, callResponded)
  @Rejects('conflict')
  async respond(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @Param('messageId') answerId: string,
    @Param('callId') callId: string,
    @BodyInput(callResponse) body: Input<typeof callResponse>,
    @CommandContext() meta: CommandMeta,
  ): Promise<z.output<typeof callResponded>> {
    const agent = await this.access.agent(caller, agentId, 'use');
    const participants = participantsOf(caller, agentId);
    this.incognito.rejectUnkept(participants, conversationId);
    await this.turns.checkAnswer(participants, conversationId, answerId);
    const { approved } = body.parse();
    await this.turns.checkCall(participants, conversationId, answerId, callId);
    const { userId, keyId } = caller;
    const status = await this.turns.respond(
      {
        participants,
        agent: answeringAgent(agent),
        mayUse: (model) => usableModel(agent.agent.version.config, this.models.catalogue, model) !== undefined,
        requester: { userId, ...(keyId === undefined ? {} : { keyId }) },
        conversationId,
        answerId,
        callId,
        approved,
      },
      meta,
    );
    return { messageId: answerId, status };
  }
}

export const participantsOf = ({ userId }: Caller, agentId: string): Participants => ({ userId, agentId });

const noEventId = (): never => {
  throw new InvalidInput('invalid_parameter', [
    { path: 'after', code: 'invalid_format', message: 'Must be the id of an event in a streamed answer.' },
  ]);
};

const questionOf = (
  { conversationId, message, parentId, kind, stream }: z.output<typeof newTurn>,
  agent: AgentAccess,
  caller: Caller,
): Omit<Question, 'parts'> => {
  const role = typeof message === 'string' ? undefined : message.role;
  if (role !== undefined && role !== 'user') return reject('system_message_not_allowed', { path: 'message.role' });
  return {
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(parentId === undefined ? {} : { parentId }),
    ...requesterOf(caller, stream),
    agent: answeringAgent(agent),
    ...(kind === 'private' || kind === 'normal' ? { kind } : {}),
  };
};

/** Memory is off where an API streams: nobody may be there who sees what is remembered. */
export const requesterOf = (
  { userId, keyId, session }: Caller,
  isStreamed: boolean,
): Pick<Question, 'userId' | 'keyId' | 'channel' | 'memory'> => {
  const channel = session === undefined ? 'api' : 'web';
  return {
    userId,
    ...(keyId === undefined ? {} : { keyId }),
    channel,
    ...(channel === 'api' && isStreamed ? { memory: 'off' } : {}),
  };
};

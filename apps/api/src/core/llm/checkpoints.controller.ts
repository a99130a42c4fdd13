import type { Caller } from '@app/access';
import { Access } from '@app/access';
import { boundary, Compactor, History, type RecordedCheckpoint, Turns } from '@app/conversations';
import {
  Answers,
  CommandContext,
  CurrentCaller,
  Documented,
  ForwardingInterceptor,
  JsonText,
  presenter,
  Reads,
  Rejects,
  Requires,
} from '@app/http';
import { type CommandMeta, reject } from '@app/kernel';
import { GetConversation } from '@projections/conversations';
import { Controller, Get, HttpCode, Param, Post, Res, UseInterceptors } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { answeringAgent } from './answering-agent';
import { IncognitoAnswers } from './incognito-answers';

const checkpointView = presenter<RecordedCheckpoint>(
  'ConversationCheckpoint',
  z.object({
    id: z.string().describe('The id of the checkpoint.'),
    boundary: boundary.describe('Where the summary ends. Models see everything after this point unchanged.'),
    summary: z.string().describe('What models see instead of everything before the boundary.'),
    tokensBefore: z.number().int().describe('Approximate tokens of the history before compaction.'),
    tokensAfter: z.number().int().describe('Approximate tokens of the history after compaction.'),
    model: z.string().describe('The model that wrote the summary.'),
    at: z.string().describe('When it was made, ISO 8601 UTC.'),
  }),
  ({ data: { checkpointId: id, ...data }, context: { recordedAt: at } }) => ({ id, ...data, at }),
);
const checkpointList = z
  .object({ items: z.array(checkpointView.schema).describe('Newest first, at most 200.') })
  .meta({ id: 'ConversationCheckpoints' });

/** Summaries that models are shown in place of the beginning of a conversation. */
@Documented('Conversations')
@UseInterceptors(ForwardingInterceptor)
@Controller('/api/v1/core/llm/:agentId/conversation/:conversationId')
export class CheckpointsController {
  constructor(
    private readonly access: Access,
    private readonly compactor: Compactor,
    private readonly history: History,
    private readonly incognito: IncognitoAnswers,
    private readonly queries: QueryBus,
    private readonly turns: Turns,
  ) {}

  @Post('compact')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({
    operationId: 'compactConversation',
    summary:
      'Summarises a conversation now. Its next answers use the summary and the latest messages. No message is deleted.',
  })
  @Answers(200, checkpointView.schema)
  @Rejects('conflict', 'model_not_available', 'upstream_error', 'upstream_timeout', 'usage_limit_exceeded')
  async compact(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ): Promise<JsonText> {
    const agent = answeringAgent(await this.access.agent(caller, agentId, 'use'));
    const participants = { userId: caller.userId, agentId };
    this.incognito.rejectUnkept(participants, conversationId);
    await this.turns.checkConversation(participants, conversationId);
    const left = new AbortController();
    raw.once('close', () => left.abort());
    const requester = { userId: caller.userId, ...(caller.keyId === undefined ? {} : { keyId: caller.keyId }) };
    const turn = { conversationId, agent, requester, signal: left.signal };
    const checkpointId = await this.compactor.byHand(turn, meta);
    return this.shown(conversationId, checkpointId);
  }

  @Get('checkpoints')
  @Requires('llm')
  @ApiOperation({
    operationId: 'listCheckpoints',
    summary:
      'Lists the checkpoints of a conversation, newest first: summaries that models see instead of its beginning.',
  })
  @Answers(200, checkpointList)
  @Rejects('conflict')
  @Reads('conversations')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
  ): Promise<JsonText> {
    await this.assertOwn(caller, agentId, conversationId);
    const checkpoints = await this.history.checkpointsOf(conversationId);
    return JsonText.of({ items: checkpoints.map((each) => checkpointView(each)) });
  }

  @Get('checkpoints/:checkpointId')
  @Requires('llm')
  @ApiOperation({
    operationId: 'getCheckpoint',
    summary: 'Reads a checkpoint: a summary that models see instead of the beginning of the conversation.',
  })
  @Answers(200, checkpointView.schema)
  @Rejects('conflict')
  @Reads('conversations')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @Param('checkpointId') checkpointId: string,
  ): Promise<JsonText> {
    await this.assertOwn(caller, agentId, conversationId);
    return this.shown(conversationId, checkpointId);
  }

  /** Rejects what is not a conversation of the caller with this Agent. */
  private async assertOwn(caller: Caller, agentId: string, conversationId: string): Promise<void> {
    await this.access.agent(caller, agentId, 'use');
    this.incognito.rejectUnkept({ userId: caller.userId, agentId }, conversationId);
    await this.queries.execute(new GetConversation(caller.userId, agentId, conversationId));
  }

  private async shown(conversationId: string, checkpointId: string): Promise<JsonText> {
    const made = await this.history.checkpoint(conversationId, checkpointId);
    return checkpointView(made ?? reject('not_found', { kind: 'checkpoint', id: checkpointId }));
  }
}

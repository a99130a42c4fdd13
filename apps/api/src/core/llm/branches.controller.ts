import { Access, type Caller } from '@app/access';
import { GiveFeedback, type Question, Turns } from '@app/conversations';
import {
  Answers,
  AnswersAs,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  ForwardingInterceptor,
  type Input,
  Rejects,
  Requires,
  Writes,
} from '@app/http';
import { type CommandMeta, dataKeyName, givenFields } from '@app/kernel';
import { Models } from '@app/models';
import { Controller, HttpCode, Param, Post, Res, UseInterceptors } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { GetMessage } from '@projections/messages';
import type { FastifyReply } from 'fastify';
import { answeringAgent } from './answering-agent';
import { CONVERSATIONS, feedback, messageView, regeneration, turnAnswer } from './conversations-schemas';
import { chatModelOf } from './generation-request';
import { IncognitoAnswers } from './incognito-answers';
import { MessageSources } from './message-sources';
import { TurnAnswers } from './turn-answers';
import { requesterOf, participantsOf } from './turns.controller';

/** What is made of a message: one more answer, and what its user thinks of it. */
@Documented('Conversations')
@UseInterceptors(ForwardingInterceptor)
@Controller(`${CONVERSATIONS}/:conversationId/messages/:messageId`)
export class BranchesController {
  constructor(
    private readonly access: Access,
    private readonly turns: Turns,
    private readonly incognito: IncognitoAnswers,
    private readonly answers: TurnAnswers,
    private readonly models: Models,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly summaries: MessageSources,
    private readonly writes: Writes,
  ) {}

  @Post('regenerate')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({
    operationId: 'regenerateMessage',
    summary: 'Regenerates an answer, beside the existing ones. Takes the id of the question or of one of its answers.',
  })
  @Answers(200, turnAnswer)
  @AnswersAs('text/event-stream')
  @Rejects('turn_in_progress', 'model_not_available', 'upstream_error', 'upstream_timeout', 'usage_limit_exceeded')
  async regenerate(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @Param('messageId') messageId: string,
    @BodyInput(regeneration) body: Input<typeof regeneration>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const agent = await this.access.agent(caller, agentId, 'use');
    const participants = participantsOf(caller, agentId);
    const isIncognito = this.incognito.has(conversationId);
    const regenerates = isIncognito
      ? this.incognito.question(participants, conversationId, messageId)
      : await this.turns.question(participants, conversationId, messageId);
    const { model, stream } = body.parse();
    const { config } = agent.agent.version;
    const key = model === undefined ? config.model : chatModelOf(config, this.models.catalogue, model).key;
    const by = { ...answeringAgent(agent), model: key };
    const question: Question = { ...requesterOf(caller, stream), conversationId, agent: by, parts: [], regenerates };
    if (isIncognito) {
      const turn = await this.incognito.ask({ ...question, parts: [] }, meta);
      return stream ? this.answers.streamed(turn, agent, reply) : this.incognito.answered(turn, agent, caller);
    }
    const turn = await this.turns.ask(question, meta);
    return stream ? this.answers.asked(turn, agent, reply) : this.answers.answered(turn, agent, reply);
  }

  @Post('feedback')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({ operationId: 'giveFeedback', summary: 'Rates an answer, with a comment, or withdraws the rating.' })
  @Answers(200, messageView.schema)
  @Rejects('conflict')
  async rate(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @Param('messageId') messageId: string,
    @BodyInput(feedback) body: Input<typeof feedback>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const agent = await this.access.agent(caller, agentId, 'use');
    const participants = participantsOf(caller, agentId);
    this.incognito.rejectUnkept(participants, conversationId);
    await this.turns.checkAnswer(participants, conversationId, messageId);
    const given = givenFields(body.parse());
    const receipt = await this.commands.execute(
      new GiveFeedback(conversationId, { userId: caller.userId, agentId, messageId, ...given }, meta),
    );
    const show = async () => {
      const row = await this.queries.execute(new GetMessage(conversationId, messageId));
      const [shown = row] = await this.summaries.messages(agent, [row]);
      return messageView(shown);
    };
    return this.writes.answer(reply, receipt, {
      views: ['messages'],
      show,
      keptWith: () => dataKeyName(receipt.stream, messageId),
    });
  }
}

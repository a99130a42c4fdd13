import { Access, type AgentAccess } from '@app/access';
import { type AnsweredTurn, type FinishedTurn, type SourceDocumentPart, type Turn, Turns } from '@app/conversations';
import { JsonText, reached, Writes, VIEW_WAITER, type ViewWaiter } from '@app/http';
import { dataKeyName, isDomainError, isUnavailable, reject } from '@app/kernel';
import type { InvocationUsage } from '@app/models';
import { Inject, Injectable, StreamableFile } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { GetMessage, type MessageRow } from '@projections/messages';
import type { FastifyReply } from 'fastify';
import { messageView } from './conversations-schemas';
import type { ResumePoint } from './resume-point';
import { MessageSources } from './message-sources';
import { recordedRow, withSaid } from './said-meanwhile';
import { UI_STREAM_HEADERS, uiMessageStream } from './ui-message-stream';

const VIEWS = ['conversations', 'messages'];

/** Turns as they are answered over HTTP: as a stream, or when they are finished. */
@Injectable()
export class TurnAnswers {
  constructor(
    private readonly access: Access,
    private readonly queries: QueryBus,
    private readonly summaries: MessageSources,
    private readonly turns: Turns,
    private readonly writes: Writes,
    @Inject(VIEW_WAITER) private readonly views: ViewWaiter,
  ) {}

  /** Streams the answer to a question that was just recorded, and says where, for who reads views behind it. */
  asked(turn: Turn, agent: AgentAccess, reply: FastifyReply): StreamableFile {
    if (turn.askedAt !== undefined) reply.header('x-log-position', turn.askedAt);
    return this.streamed(turn, agent, reply);
  }

  streamed(
    turn: Turn | Turn<AnsweredTurn>,
    agent: AgentAccess,
    reply: FastifyReply,
    after?: ResumePoint,
  ): StreamableFile {
    reply.request.mayGoOn = (now) => this.access.agent(now, agent.agentId, 'use');
    const shown = (part: SourceDocumentPart) => this.summaries.source(agent, part);
    void reply.headers(UI_STREAM_HEADERS);
    const recorded = async (finished: AnsweredTurn | FinishedTurn): Promise<void> => {
      if ('receipt' in finished) await this.settled(finished.receipt.position);
    };
    return new StreamableFile(uiMessageStream(turn, { settled: recorded, shown }, after));
  }

  async answered(turn: Turn, agent: AgentAccess, reply: FastifyReply) {
    const { conversationId, answer, receipt } = await turn.finished;
    if (answer.status === 'failed') {
      // The failure is an answer too: whoever reads it back finds it.
      reply.header('x-log-position', receipt.position);
      await this.settled(receipt.position);
      return reject(answer.errorCode ?? 'internal', { conversationId, messageId: answer.answerId });
    }
    const show = async () => {
      const row = await this.row(conversationId, answer.answerId);
      const [shown = row] = await this.summaries.messages(agent, await withSaid(this.turns, conversationId, [row]));
      return shownAnswer(conversationId, messageView(shown), answer.usage);
    };
    return this.writes.answer(reply, receipt, {
      views: VIEWS,
      show,
      keptWith: () => dataKeyName(receipt.stream, answer.answerId),
    });
  }

  /** Waits, at most 2 s, until views show an answer. */
  private async settled(position: string): Promise<void> {
    await reached(this.views, VIEWS, position);
  }

  /** An answer as the view shows it, or as it is recorded while that is late or away, one that waits too: nobody should pay for one and not get it. */
  private async row(conversationId: string, id: string): Promise<MessageRow> {
    try {
      return await this.queries.execute(new GetMessage(conversationId, id));
    } catch (error) {
      if (!isDomainError(error, 'not_found') && !isUnavailable(error)) throw error;
      const row = await recordedRow(this.turns, { id, conversationId });
      if (row === undefined) throw error;
      return row;
    }
  }
}

export const shownAnswer = (conversationId: string, message: JsonText, usage: InvocationUsage | null): JsonText =>
  JsonText.of({ conversationId, message, usage });

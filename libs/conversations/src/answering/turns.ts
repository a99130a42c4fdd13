import type { Claims } from '@app/coordination';
import { type CommandMeta, deriveId, isUnavailable, reject } from '@app/kernel';
import type { MeteredCall } from '@app/spending';
import { openTurnAt } from '../conversation/asking';
import type { Participants } from '../conversation/conversation.commands';
import { conversationDecider } from '../conversation/conversation.decider';
import { endsWith } from '../conversation/message-deletion';
import type { Attachments } from '../attachment/attachments';
import type { Answerer } from './answerer';
import { chatMessagesOf, imageTokensOf } from './branch-context';
import type { Compactor } from './compactor';
import type { History } from './history';
import type { CallResponse, Question } from './question';
import { RecordedTurns, type RecordedTurnsParts } from './recorded-turns';
import { RunningTurns } from './running-turns';
import { type SaidMeanwhile, saidMeanwhileOf } from './said-meanwhile';
import { wordsOf } from './shown-parts';
import { Turn } from './turn';
import type { TurnBeginnings } from './turn-beginnings';
import { TurnClaims } from './turn-claims';
import { TurnRepeats } from './turn-repeats';

export interface TurnsParts extends RecordedTurnsParts {
  readonly answerer: Answerer;
  readonly compactor: Compactor;
  readonly claims: Claims;
  readonly attachments: Pick<Attachments, 'images'>;
  readonly beginnings: Pick<TurnBeginnings, 'of'>;
}

/**
 * Questions and their answers. The question is recorded before the model is called, the answer when it is finished,
 * failed or stopped. A branch of a conversation has one turn at a time. A turn of a dead process is recorded as failed:
 * by the next question, by a reader that follows it, or else by `closeAbandonedTurns`.
 */
export class Turns {
  private readonly running: RunningTurns;
  private readonly recorded: RecordedTurns;
  private readonly claims: TurnClaims;
  private readonly repeats: TurnRepeats;

  constructor(private readonly parts: TurnsParts) {
    this.recorded = new RecordedTurns(parts);
    this.claims = new TurnClaims(parts.claims, this.recorded, parts.clock);
    this.repeats = new TurnRepeats(parts, this.recorded, this.claims);
    this.running = new RunningTurns({
      answerer: parts.answerer,
      recorded: this.recorded,
      context: async (turn, signal) => {
        const { agent, requester, from, meta } = turn;
        const { conversationId, messageId } = turn.ids;
        const context = await parts.compactor.within({ conversationId, agent, requester, signal }, messageId, meta);
        const [images, begun] = await Promise.all([
          parts.attachments.images(agent, context.newestFirst),
          parts.beginnings.of(turn, context),
        ]);
        const beside = { ...begun, copies: parts.copies, hasImages: images.size > 0, paused: from?.paused };
        return {
          begun,
          messages: chatMessagesOf(context, images, begun.skills.loadedTexts),
          provenance: parts.compactor.recorder(agent, context, beside),
        };
      },
    });
  }

  /** Records the question and begins to answer. A repeat of the command joins its turn, or finds it finished. Rejects `usage_limit_exceeded`; then nothing is recorded. */
  async ask(question: Question, meta: CommandMeta): Promise<Turn> {
    const conversationId = question.conversationId ?? deriveId(meta.commandId, 'conversation');
    const answerId = deriveId(meta.commandId, 'answer');
    const participants = { userId: question.userId, agentId: question.agent.agentId };
    await this.recorded.rejectForeign(conversationId, participants);
    const running = this.running.find(answerId);
    if (running !== undefined) return running;
    const release = await this.claims.take(conversationId, answerId, () => this.running.stop(answerId));
    if (release === undefined)
      return this.repeats.answered(question, { ...participants, conversationId, answerId }, meta);
    let metered: MeteredCall | undefined;
    try {
      const again =
        question.regenerates && (await this.recorded.question(participants, conversationId, question.regenerates));
      const parentId = again ?? question.parentId;
      await this.freeBranch(conversationId, parentId, answerId, meta);
      const before = await this.parts.compactor.before(conversationId, parentId, question.agent);
      metered = await this.parts.answerer.reserve(
        question.agent,
        question,
        question.parts.map(wordsOf).join('\n\n'),
        chatMessagesOf(before),
        imageTokensOf(before, question.parts),
      );
      const messageId = again ?? deriveId(meta.commandId, 'message');
      const memory = again ? await this.parts.history.memoryFor(conversationId, again) : question.memory;
      const receipt = await this.recorded.ask(
        { ...question, memory },
        { ...participants, conversationId, answerId, messageId },
        meta,
      );
      const earlier = receipt.repeated
        ? await this.repeats.earlier(participants, conversationId, answerId, meta)
        : undefined;
      if (earlier === undefined) {
        const { agent, userId, keyId } = question;
        const requester = { userId, ...(keyId === undefined ? {} : { keyId }) };
        const ids = { conversationId, answerId, messageId };
        const turn = this.running.begin({ ids, agent, requester, metered, ...(memory && { memory }), meta, release });
        turn.askedAt = receipt.position;
        return turn;
      }
      metered?.cancel();
      await release();
      const turn = earlier();
      turn.askedAt = receipt.position;
      return turn;
    } catch (error) {
      metered?.cancel();
      // The question may stand in the log.
      await release({ isUnfinished: isUnavailable(error) && error.outcome === 'unknown' });
      throw error;
    }
  }

  /**
   * The turn with this answer, by default the running one that began last, to be followed from its beginning: wherever
   * it runs, and even if it is finished. A turn of a dead process is recorded as failed with its saved text. Undefined
   * if no answer is named and none is running. Rejects `not_found`.
   */
  resume(participants: Participants, conversationId: string, answerId: string, meta: CommandMeta): Promise<Turn>;
  resume(
    participants: Participants,
    conversationId: string,
    answerId: string | undefined,
    meta: CommandMeta,
  ): Promise<Turn | undefined>;
  async resume(
    participants: Participants,
    conversationId: string,
    answerId: string | undefined,
    meta: CommandMeta,
  ): Promise<Turn | undefined> {
    const state = await this.recorded.own(participants, conversationId);
    const wanted = answerId ?? state.open.last()?.answerId;
    if (wanted === undefined) return undefined;
    const running = this.running.find(wanted);
    if (running?.conversationId === conversationId) return running;
    if (state.open.has(wanted)) return this.repeats.elsewhere(conversationId, wanted, meta);
    return (await this.recorded.turn(conversationId, wanted)) ?? reject('not_found', { kind: 'message', id: wanted });
  }

  /** The question that a message is, or is an answer to. Rejects `not_found`. */
  question(participants: Participants, conversationId: string, messageId: string): Promise<string> {
    return this.recorded.question(participants, conversationId, messageId);
  }

  /** What was said until now of the answers under way, by their ids, and whether they wait. */
  async saidMeanwhile(conversationId: string): Promise<ReadonlyMap<string, SaidMeanwhile>> {
    const open = await this.recorded.open(conversationId);
    return new Map(
      open.map((turn) => [turn.answerId, saidMeanwhileOf(turn, this.running.find(turn.answerId)?.parts ?? turn.parts)]),
    );
  }

  /** What the log has of an answer, for readers whose view does not show it yet. */
  eventsOf(conversationId: string, answerId: string): ReturnType<History['eventsOf']> {
    return this.parts.history.eventsOf(conversationId, answerId);
  }

  /** Rejects `not_found` for what is no conversation of the participants, as the log has it: a view may not show it yet. */
  async checkConversation(participants: Participants, conversationId: string): Promise<void> {
    await this.recorded.own(participants, conversationId);
  }

  /** Rejects `not_found` for what is no answer of the participants, under way or not. */
  async checkAnswer(participants: Participants, conversationId: string, answerId: string): Promise<void> {
    return this.recorded.checkAnswer(participants, conversationId, answerId);
  }

  /** Rejects `not_found` for what is no call of an answer, waiting or not. */
  async checkCall(participants: Participants, conversationId: string, answerId: string, callId: string): Promise<void> {
    return this.recorded.checkCall(participants, conversationId, answerId, callId);
  }

  /**
   * Approves or denies a call of an answer that waits. After the last one it goes on, in this process: `streaming`; else it is `waiting`
   * for others. Rejects `not_found`, and `conflict` where the call has its answer; throws `Unavailable` where another request has the answer in hand for too long.
   */
  async respond(call: CallResponse, meta: CommandMeta): Promise<'waiting' | 'streaming'> {
    const { participants, requester, conversationId, answerId, callId, approved } = call;
    const release = await this.claimSoon(conversationId, answerId);
    if (release === undefined) {
      await this.claims.rejectHeld(conversationId, answerId);
      // It continues: a repeat learns that, and another caller that the call is decided.
      await this.recorded.respond({ ...participants, answerId, callId, approved }, conversationId, meta);
      return 'streaming';
    }
    let isRecorded = false;
    try {
      const receipt = await this.recorded.respond(
        { ...participants, answerId, callId, approved },
        conversationId,
        meta,
      );
      isRecorded = true;
      const turn = (await this.recorded.open(conversationId)).find((open) => open.answerId === answerId);
      if (receipt.repeated || turn === undefined || turn.isWaiting) {
        // A repeat that holds the claim of a continuing answer: the process that handled it first died.
        await this.recorded.closeAbandoned(conversationId, answerId, meta);
        await release();
        return turn?.isWaiting === true ? 'waiting' : 'streaming';
      }
      const ids = { conversationId, answerId, messageId: turn.messageId };
      const model = turn.paused?.model;
      const agent = model !== undefined && call.mayUse?.(model) ? { ...call.agent, model } : call.agent;
      this.running.begin({ ids, agent, requester, from: turn, meta, release });
      return 'streaming';
    } catch (error) {
      await release({ isUnfinished: isRecorded || (isUnavailable(error) && error.outcome === 'unknown') });
      throw error;
    }
  }

  /** Stops the answer with this id, by default the one that was begun last, in any process. What it said is recorded. False if it does not run. Rejects `not_found`. */
  async stop(
    participants: Participants,
    conversationId: string,
    answerId: string | undefined,
    meta: CommandMeta,
  ): Promise<boolean> {
    const { open } = await this.recorded.own(participants, conversationId);
    const turn = answerId === undefined ? open.last() : open.get(answerId);
    if (turn === undefined) return false;
    const release = turn.isWaiting ? await this.claimSoon(conversationId, turn.answerId) : undefined;
    if (release === undefined) {
      if (turn.isWaiting && !this.running.stop(turn.answerId))
        await this.claims.rejectHeld(conversationId, turn.answerId);
      return this.stopTurn(conversationId, turn.answerId);
    }
    try {
      return (await this.recorded.stopWaiting(conversationId, turn.answerId, meta)) !== undefined;
    } finally {
      await release();
    }
  }

  /** Stops all answers that are under way in a conversation, or that end with one of its messages, in any process, once that is deleted: then none of them is known any more. */
  async stopper(conversationId: string, messageId?: string): Promise<() => Promise<void>> {
    const all = await this.recorded.open(conversationId);
    const open = all.filter((turn) => messageId === undefined || endsWith(turn, messageId));
    return async () => {
      for (const { answerId } of open) await this.stopTurn(conversationId, answerId);
      await this.stopGone(conversationId);
    };
  }

  /** Stops answers that are under way although they, or their conversation, were deleted: here, and of a whole conversation in any process. */
  async stopGone(conversationId: string): Promise<void> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    this.running.stopOthers(conversationId, state.status === 'Live' ? state.open : new Map());
    if (state.status === 'Deleted') await this.claims.askAllToStop(conversationId);
  }

  /** Records as failed what processes left unfinished that died, or could not record it. */
  closeAbandonedTurns(): Promise<void> {
    return this.claims.closeAbandoned();
  }

  /** Waits for running answers, and stops those that take longer. */
  close(graceMs: number): Promise<void> {
    return this.running.close(graceMs);
  }

  /** Makes way for a question behind this message: rejects `turn_in_progress` where one before it waits for its answer, unless that one's process died. */
  private async freeBranch(
    conversationId: string,
    parentId: string | null | undefined,
    answerId: string,
    meta: CommandMeta,
  ): Promise<void> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    if (state.status !== 'Live') return;
    const before = openTurnAt(state, parentId === undefined ? state.last : parentId);
    if (before === undefined || before.answerId === answerId) return;
    if (before.isWaiting || !(await this.claims.closeIfDead(conversationId, before.answerId, meta)))
      reject('turn_in_progress');
  }

  private claimSoon(conversationId: string, answerId: string) {
    return this.claims.takeSoon(conversationId, answerId, () => this.running.find(answerId) !== undefined);
  }

  private async stopTurn(conversationId: string, answerId: string): Promise<boolean> {
    return this.running.stop(answerId) || this.claims.askToStop(conversationId, answerId);
  }
}

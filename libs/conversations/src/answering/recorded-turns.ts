import {
  type Clock,
  type CommandMeta,
  type Decisions,
  isErased,
  type Receipt,
  reject,
  stepOf,
  streamOf,
} from '@app/kernel';
import type { Answer, Participants } from '../conversation/conversation.commands';
import { conversationDecider, type LiveConversation } from '../conversation/conversation.decider';
import { questionOf } from '../conversation/asking';
import type { Continuation } from '../conversation/continuation';
import type { MessagePart } from '../conversation/message-parts';
import { partsWithin } from './answer-size';
import type { Outcome } from './answering';
import type { DocumentCopies } from './document-copies';
import type { History, RecordedAnswer } from './history';
import { askOf, type Question, type TurnIds } from './question';
import type { RetrievedPassage } from './retriever';
import { recordedTokens } from './said-message';
import { SavedParts } from './saved-parts';
import type { OpenTurn } from '../conversation/open-turns';
import { closedCalls } from './tool-calls';
import type { PausedAnswer, Respond } from '../conversation/tool-approvals';
import { type FinishedTurn, Turn } from './turn';

export interface RecordedTurnsParts {
  readonly decisions: Decisions;
  readonly history: History;
  readonly copies: Pick<DocumentCopies, 'citable' | 'kept' | 'sealed'>;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

/** Turns in the log: the question, the text so far, the answer. */
export class RecordedTurns {
  constructor(private readonly parts: RecordedTurnsParts) {}

  async rejectForeign(conversationId: string, participants: Participants): Promise<void> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    if (state.status === 'Live' && !isOf(participants, state))
      reject('not_found', { kind: 'conversation', id: conversationId });
  }

  /** A conversation of these participants. Rejects `not_found`. */
  async own(participants: Participants, conversationId: string): Promise<LiveConversation> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    return state.status === 'Live' && isOf(participants, state)
      ? state
      : reject('not_found', { kind: 'conversation', id: conversationId });
  }

  /** The question that a message is, or is an answer to. Rejects `not_found`. */
  async question(participants: Participants, conversationId: string, messageId: string): Promise<string> {
    const state = await this.own(participants, conversationId);
    return questionOf(state, messageId) ?? reject('not_found', { kind: 'message', id: messageId });
  }

  /** Records a question. A repeat of its command finds it recorded. */
  async ask(question: Question, ids: Participants & TurnIds, meta: CommandMeta): Promise<Receipt> {
    const { regenerates: messageId, channel, memory, parts } = question;
    const command =
      messageId === undefined
        ? { ...askOf(question, ids), ...(await recordedTokens(parts)) }
        : { type: 'Regenerate' as const, ...ids, messageId, channel, ...(memory && { memory }) };
    return this.parts.decisions.transact(conversationDecider, ids.conversationId, command, meta);
  }

  /** Saves the answer while it streams; `onGone`: nobody waits for the answer any more. */
  savedParts(
    { conversationId, answerId }: TurnIds,
    saved: readonly MessagePart[],
    meta: CommandMeta,
    onGone: () => void,
  ): SavedParts {
    const { decisions, clock, logger } = this.parts;
    let saves = 0;
    const save = async (more: Continuation) => {
      const now = clock.now();
      saves += 1;
      // A repeated question begins again: these are different steps. So are two within a millisecond.
      const { eventIds } = await decisions.transact(
        conversationDecider,
        conversationId,
        { type: 'Continue', answerId, ...more },
        { ...stepOf(meta, `said/${saves}/${now.getTime()}`), now },
      );
      if (eventIds.length > 0) return true;
      // It is saved already where the log took it and could not say so.
      const isOpen = (await this.open(conversationId)).some((turn) => turn.answerId === answerId);
      if (!isOpen) onGone();
      return isOpen;
    };
    return new SavedParts(answerId, saved, save, (error) =>
      logger.warn({ conversationId, error }, 'Saving a streaming answer failed; retrying.'),
    );
  }

  /**
   * Records that an answer waits for the approval of calls. Rejects `not_found` if the conversation or its question was
   * deleted meanwhile.
   */
  async wait(
    { conversationId, answerId, messageId }: TurnIds,
    outcome: Extract<Outcome, { status: 'waiting' }>,
    more: Continuation | undefined,
    meta: CommandMeta,
  ): Promise<FinishedTurn> {
    const now = this.parts.clock.now();
    const { parts, status: _, finishReason: __, passages, ...paused } = outcome;
    const sources = await this.parts.copies.kept(passages);
    const { model, usage } = paused;
    const receipt = await this.parts.decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'Wait', answerId, more, sources, ...paused },
      { ...stepOf(meta, 'wait'), now },
    );
    if (receipt.eventIds.length === 0) return this.rejectGone(conversationId, answerId);
    const answer = { answerId, parts, status: 'waiting' as const, finishReason: 'tool-calls' as const, model, usage };
    return { conversationId, parentId: messageId, answer, receipt };
  }

  /** What an answer that waited may cite, without what was deleted since. */
  citable(paused: PausedAnswer): Promise<readonly RetrievedPassage[]> {
    return this.parts.copies.citable(paused);
  }

  /** Records an answer. Rejects `not_found` if the conversation or its question was deleted meanwhile. */
  async record(
    conversationId: string,
    parentId: string,
    answer: Omit<Answer, 'type'>,
    meta: CommandMeta,
  ): Promise<FinishedTurn> {
    const now = this.parts.clock.now();
    const receipt = await this.parts.decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'Answer', ...answer, ...(await recordedTokens(answer.parts)) },
      { ...stepOf(meta, 'answer'), now },
    );
    // Deleted while it was answered.
    if (receipt.eventIds.length === 0) return this.rejectGone(conversationId, answer.answerId);
    return { conversationId, parentId, answer, receipt };
  }

  private async rejectGone(conversationId: string, answerId: string): Promise<never> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    return state.status === 'Live'
      ? reject('not_found', { kind: 'message', id: answerId })
      : reject('not_found', { kind: 'conversation', id: conversationId });
  }

  /** Turns that wait for their answers. */
  async open(conversationId: string): Promise<readonly OpenTurn[]> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    return state.status === 'Live' ? [...state.open.values()] : [];
  }

  /** Records a turn of a dead process as failed, with the saved text. Requires its claim. */
  async closeAbandoned(conversationId: string, answerId: string, meta: CommandMeta): Promise<void> {
    const open = (await this.open(conversationId)).find((turn) => turn.answerId === answerId);
    if (open === undefined || open.isWaiting) return;
    const lost: Omit<Answer, 'type' | 'answerId'> = {
      parts: closedCalls(partsWithin(open.parts)),
      status: 'failed',
      finishReason: 'error',
      errorCode: 'unavailable',
      model: open.paused?.model ?? '',
      usage: open.paused?.usage ?? null,
    };
    await this.parts.decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'Answer', answerId, ...lost },
      stepOf(meta, `abandoned/${answerId}`),
    );
  }

  /** Whether there is such an answer, under way or not. Rejects `not_found`. */
  async checkAnswer(participants: Participants, conversationId: string, answerId: string): Promise<void> {
    const { open, parents } = await this.own(participants, conversationId);
    if (!open.has(answerId) && !parents.has(answerId)) reject('not_found', { kind: 'message', id: answerId });
  }

  /** Whether there is such a call of an answer, waiting or not. Rejects `not_found`. */
  async checkCall(participants: Participants, conversationId: string, answerId: string, callId: string): Promise<void> {
    const { open, parents } = await this.own(participants, conversationId);
    const missing = (kind: string, id: string) => reject('not_found', { kind, id });
    const known =
      open.get(answerId)?.parts ?? (parents.has(answerId) ? await this.partsOf(conversationId, answerId) : undefined);
    if (known === undefined) return missing('message', answerId);
    if (!known.some((part) => part.type === 'tool' && part.toolCallId === callId)) missing('toolCall', callId);
  }

  respond(response: Omit<Respond, 'type'>, conversationId: string, meta: CommandMeta): Promise<Receipt> {
    return this.parts.decisions.transact(conversationDecider, conversationId, { type: 'Respond', ...response }, meta);
  }

  /** Ends a turn that waits, whose claim is in hand. Undefined where it does not wait any more. */
  async stopWaiting(conversationId: string, answerId: string, meta: CommandMeta): Promise<FinishedTurn | undefined> {
    const turn = (await this.open(conversationId)).find((each) => each.answerId === answerId);
    if (turn?.paused === undefined || !turn.isWaiting) return undefined;
    const { model, usage, degraded, provenance } = turn.paused;
    const answer = {
      answerId,
      parts: closedCalls(turn.parts),
      status: 'stopped' as const,
      finishReason: 'other' as const,
      model,
      usage,
      ...(degraded === undefined ? {} : { degraded }),
      ...(provenance === undefined ? {} : { provenance }),
    };
    return this.record(conversationId, turn.messageId, answer, meta);
  }

  private async partsOf(conversationId: string, answerId: string): Promise<readonly MessagePart[] | undefined> {
    const parts = (await this.parts.history.answer(conversationId, answerId))?.data.parts;
    return parts === undefined || isErased(parts) ? parts && [] : parts;
  }

  /** A turn that finished before, as if it happened again. */
  async turn(conversationId: string, answerId: string): Promise<Turn | undefined> {
    const event = await this.parts.history.answer(conversationId, answerId);
    return event && new Turn(conversationId, answerId, async () => recordedTurn(event));
  }
}

const isOf = ({ userId, agentId }: Participants, state: LiveConversation): boolean =>
  state.userId === userId && state.agentId === agentId;

/** A turn in the log. */
export const recordedTurn = (event: RecordedAnswer): FinishedTurn => {
  const { messageId: answerId, conversationId, parentId, parts, channel: _, tokens: __, ...rest } = event.data;
  const { stream, position, revision, id } = event.context;
  return {
    conversationId,
    parentId,
    answer: { answerId, parts: isErased(parts) ? [] : parts, ...rest },
    receipt: { stream, position, revision, eventIds: [id], repeated: true },
  };
};

/** A waiting turn in the log. */
export const waitingTurn = (
  conversationId: string,
  { answerId, messageId: parentId, parts, paused }: OpenTurn,
  { position, revision }: { readonly position: string | null; readonly revision: number },
): FinishedTurn => ({
  conversationId,
  parentId,
  answer: {
    answerId,
    parts,
    status: 'waiting',
    finishReason: 'tool-calls',
    model: paused?.model ?? '',
    usage: paused?.usage ?? null,
  },
  receipt: {
    stream: streamOf(conversationDecider.category, conversationId),
    position: position ?? '',
    revision,
    eventIds: [],
    repeated: true,
  },
});

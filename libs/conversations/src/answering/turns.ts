import { type Clock, type CommandMeta, type Decisions, deriveId, isErased, refuse, stepOf } from '@app/kernel';
import type { Claims } from '@app/read-store';
import { conversationDecider, type Answer, type Party } from '../conversation/conversation.decider';
import type { ConversationKind } from '../conversation/conversation.events';
import { textOf, type TextPart } from '../conversation/message-parts';
import { Stopped, type Answerer, type AnsweringAgent } from './answerer';
import type { History } from './history';
import { titleOf } from './title';
import { Turn, type FinishedTurn } from './turn';

export interface Question {
  /** Absent: a new conversation. */
  readonly conversationId?: string;
  readonly userId: string;
  readonly agent: AnsweringAgent;
  readonly parts: readonly TextPart[];
  readonly parentId?: string;
  readonly kind: ConversationKind;
  readonly channel: 'api' | 'web' | 'embed' | 'app';
  /** Whether the model is asked piece by piece. */
  readonly stream: boolean;
}

export interface TurnsParts {
  readonly decisions: Decisions;
  readonly history: History;
  readonly answerer: Answerer;
  readonly claims: Claims;
  readonly clock: Clock;
}

/**
 * Questions and their answers. The question is recorded before the model is called, the answer when it is finished, failed
 * or was stopped; a conversation has one turn at a time. A turn whose process died is recorded as failed by the next question.
 */
export class Turns {
  private readonly running = new Map<string, { readonly turn: Turn; readonly stop: AbortController }>();

  constructor(private readonly parts: TurnsParts) {}

  /** Records the question and begins to answer. A repeat of the command joins its turn, or finds it finished. */
  async ask(question: Question, meta: CommandMeta): Promise<Turn> {
    const conversationId = question.conversationId ?? deriveId(meta.commandId, 'conversation');
    const answerId = deriveId(meta.commandId, 'answer');
    const party = { userId: question.userId, agentId: question.agent.agentId };
    await this.refuseForeign(conversationId, party);
    const running = this.running.get(conversationId);
    if (running?.turn.answerId === answerId) return running.turn;
    const release = (await this.parts.claims.take(`turn/${conversationId}`)) ?? refuse('turn_in_progress');
    try {
      await this.closeAbandoned(conversationId, answerId, meta);
      const messageId = deriveId(meta.commandId, 'message');
      const receipt = await this.parts.decisions.transact(conversationDecider, conversationId, askOf(question, { ...party, conversationId, answerId, messageId }), meta);
      const recorded = receipt.repeated ? await this.recorded(conversationId, answerId) : undefined;
      return recorded === undefined ? this.begin(question, { conversationId, answerId, messageId }, meta, release) : await released(recorded, release);
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Ends the running answer of a conversation; what was said is recorded. False when none runs here. */
  stop(conversationId: string): boolean {
    const running = this.running.get(conversationId);
    running?.stop.abort(new Stopped());
    return running !== undefined;
  }

  /** Waits for the running answers, and stops those that take longer. */
  async close(graceMs: number): Promise<void> {
    const all = [...this.running.values()];
    const timer = setTimeout(() => all.forEach(({ stop }) => stop.abort(new Stopped())), graceMs);
    await Promise.allSettled(all.map(({ turn }) => turn.finished));
    clearTimeout(timer);
  }

  private async refuseForeign(conversationId: string, { userId, agentId }: Party): Promise<void> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    if (state.status === 'Live' && (state.userId !== userId || state.agentId !== agentId)) refuse('not_found');
  }

  /** With the claim in hand, an open turn is one whose process died; unless it is this very question, which is answered now. */
  private async closeAbandoned(conversationId: string, answerId: string, meta: CommandMeta): Promise<void> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    if (state.status !== 'Live' || state.open === null || state.open.answerId === answerId) return;
    const lost = { parts: [], status: 'failed', finishReason: 'error', errorCode: 'unavailable', model: '', usage: null } as const;
    await this.parts.decisions.transact(conversationDecider, conversationId, { type: 'Answer', answerId: state.open.answerId, ...lost }, stepOf(meta, 'abandoned'));
  }

  private begin(question: Question, ids: { readonly conversationId: string; readonly answerId: string; readonly messageId: string }, meta: CommandMeta, release: () => Promise<void>): Turn {
    const { conversationId, answerId, messageId } = ids;
    const stop = new AbortController();
    const turn = new Turn(conversationId, answerId, async (say) => {
      try {
        const messages = await this.parts.history.branch(conversationId, messageId);
        const answer = await this.parts.answerer.answer(question.agent, messages, { stream: question.stream, signal: stop.signal }, say);
        return await this.record(conversationId, messageId, { answerId, ...answer }, meta);
      } finally {
        this.running.delete(conversationId);
        await release();
      }
    });
    this.running.set(conversationId, { turn, stop });
    return turn;
  }

  private async record(conversationId: string, parentId: string, answer: Omit<Answer, 'type'>, meta: CommandMeta): Promise<FinishedTurn> {
    const now = this.parts.clock.now();
    const receipt = await this.parts.decisions.transact(conversationDecider, conversationId, { type: 'Answer', ...answer }, { ...stepOf(meta, 'answer'), now });
    // Deleted while it was answered.
    if (receipt.eventIds.length === 0) return refuse('not_found');
    return { conversationId, parentId, answer, createdAt: now.toISOString(), receipt };
  }

  /** A turn that finished before, as if it happened again. */
  private async recorded(conversationId: string, answerId: string): Promise<Turn | undefined> {
    const event = await this.parts.history.answer(conversationId, answerId);
    if (event === undefined) return undefined;
    const { messageId: _, conversationId: __, parentId, parts, ...rest } = event.data;
    const { stream, position, revision, id, recordedAt } = event.context;
    const shown = isErased(parts) ? [] : parts;
    const receipt = { stream, position, revision, eventIds: [id], repeated: true };
    return new Turn(conversationId, answerId, async (say) => {
      say({ type: 'text', delta: textOf(shown) });
      for (const part of shown) if (part.type === 'source-document') say({ type: 'source', part });
      return { conversationId, parentId, answer: { answerId, parts: shown, ...rest }, createdAt: recordedAt, receipt };
    });
  }
}

const askOf = ({ conversationId: given, agent, parts, parentId, kind, channel }: Question, ids: Party & { readonly conversationId: string; readonly answerId: string; readonly messageId: string }) => ({
  type: 'Ask' as const,
  create: given === undefined,
  ...ids,
  spaceId: agent.spaceId,
  kind,
  title: titleOf(textOf(parts)),
  parts,
  channel,
  ...(parentId === undefined ? {} : { parentId }),
});

const released = async (turn: Turn, release: () => Promise<void>): Promise<Turn> => {
  await release();
  return turn;
};

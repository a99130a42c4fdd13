import { type Clock, type CommandMeta, type Decisions, isErased, type Receipt, reject, stepOf } from '@app/kernel';
import type { ChatMessage } from '@app/models';
import { type Answer, conversationDecider, type Party } from '../conversation/conversation.decider';
import type { ConversationKind } from '../conversation/conversation.events';
import { textOf, type TextPart } from '../conversation/message-parts';
import type { AnsweringAgent } from './answerer';
import type { History, RecordedAnswer } from './history';
import { SavedText } from './saved-text';
import { type FinishedTurn, Turn, type TurnEvent } from './turn';

export interface Question {
  /** Absent: a new conversation. */
  readonly conversationId?: string;
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agent: AnsweringAgent;
  readonly parts: readonly TextPart[];
  readonly parentId?: string;
  readonly kind: ConversationKind;
  readonly channel: 'api' | 'web' | 'embed' | 'app';
  /** Whether the model is asked piece by piece. */
  readonly stream: boolean;
}

export interface RecordedTurnsParts {
  readonly decisions: Decisions;
  readonly history: History;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

export interface TurnIds {
  readonly conversationId: string;
  readonly answerId: string;
  readonly messageId: string;
}

/** Turns as they stand in the log: the question, what was said so far, the answer. */
export class RecordedTurns {
  constructor(private readonly parts: RecordedTurnsParts) {}

  async rejectForeign(conversationId: string, { userId, agentId }: Party): Promise<void> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    if (state.status === 'Live' && (state.userId !== userId || state.agentId !== agentId))
      reject('not_found', { kind: 'conversation', id: conversationId });
  }

  /** The branch that a question goes on with: behind its parent, the last message by default. */
  async saidBefore(conversationId: string, parentId: string | undefined): Promise<readonly ChatMessage[]> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    const last = parentId ?? (state.status === 'Live' ? state.last : null);
    return last === null ? [] : this.parts.history.branch(conversationId, last);
  }

  /** Records a question. A repeat of its command finds it recorded. */
  ask(question: Question, ids: Party & TurnIds, meta: CommandMeta): Promise<Receipt> {
    return this.parts.decisions.transact(conversationDecider, ids.conversationId, askOf(question, ids), meta);
  }

  /** Saves what is said while it is said. */
  savedText(conversationId: string, answerId: string, meta: CommandMeta): SavedText {
    const { decisions, clock, logger } = this.parts;
    const save = (from: number, text: string) => {
      const now = clock.now();
      // A repeat of the question says it anew: these are steps of their own.
      return decisions.transact(
        conversationDecider,
        conversationId,
        { type: 'Continue', answerId, from, text },
        { ...stepOf(meta, `said/${from}/${now.getTime()}`), now },
      );
    };
    return new SavedText(save, (error) =>
      logger.warn({ conversationId, error }, 'Saving a streaming answer failed; retrying.'),
    );
  }

  /** Records an answer. Rejects `not_found` where the conversation was deleted meanwhile. */
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
      { type: 'Answer', ...answer },
      { ...stepOf(meta, 'answer'), now },
    );
    // Deleted while it was answered.
    if (receipt.eventIds.length === 0) return reject('not_found', { kind: 'conversation', id: conversationId });
    return { conversationId, parentId, answer, createdAt: now.toISOString(), receipt };
  }

  /** With the claim in hand, an open turn is one whose process died; unless it is this very question, which is answered now. */
  async closeAbandoned(conversationId: string, answerId: string, meta: CommandMeta): Promise<void> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    if (state.status !== 'Live' || state.open === null || state.open.answerId === answerId) return;
    const { said } = state.open;
    const lost: Omit<Answer, 'type' | 'answerId'> = {
      parts: said === '' ? [] : [{ type: 'text', text: said }],
      status: 'failed',
      finishReason: 'error',
      errorCode: 'unavailable',
      model: '',
      usage: null,
    };
    await this.parts.decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'Answer', answerId: state.open.answerId, ...lost },
      stepOf(meta, 'abandoned'),
    );
  }

  /** A turn that finished before, as if it happened again. */
  async turn(conversationId: string, answerId: string): Promise<Turn | undefined> {
    const event = await this.parts.history.answer(conversationId, answerId);
    return event === undefined
      ? undefined
      : new Turn(conversationId, answerId, async (say) => recordedTurn(event, 0, say));
  }
}

const askOf = ({ conversationId: given, agent, parts, parentId, kind, channel }: Question, ids: Party & TurnIds) => ({
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

/** Says what stands in a recorded answer behind an offset of its text, and then what it cites, as if it happened again. */
export const recordedTurn = (event: RecordedAnswer, from: number, say: (event: TurnEvent) => void): FinishedTurn => {
  const { messageId: answerId, conversationId, parentId, parts, ...rest } = event.data;
  const { stream, position, revision, id, recordedAt } = event.context;
  const shown = isErased(parts) ? [] : parts;
  const text = textOf(shown).slice(from);
  if (text !== '') say({ type: 'text', delta: text });
  for (const part of shown) if (part.type === 'source-document') say({ type: 'source', part });
  return {
    conversationId,
    parentId,
    answer: { answerId, parts: shown, ...rest },
    createdAt: recordedAt,
    receipt: { stream, position, revision, eventIds: [id], repeated: true },
  };
};

/** Longest title made from a question, characters. */
const MAX_TITLE = 80;

/** The title of a conversation until its user gives another: the beginning of the first question. */
const titleOf = (question: string): string => {
  const text = question.replace(/[\p{C}\s]+/gu, ' ').trim();
  if (text === '') return 'New conversation';
  if (text.length <= MAX_TITLE) return text;
  const cut = text.slice(0, MAX_TITLE).toWellFormed();
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_TITLE / 2)).trimEnd()}…`;
};

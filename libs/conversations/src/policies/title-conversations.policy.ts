import {
  type Clock,
  CLOCK,
  Decisions,
  idOf,
  isErased,
  reactionTo,
  type RecordedEvent,
  retryUntilAnswered,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { History, type RecordedAnswer } from '../answering/history';
import { conversationDecider } from '../conversation/conversation.decider';
import { textOf } from '../conversation/message-parts';
import { awaitsTitle } from '../conversation/titles';
import { Titler } from '../titling/titler';

/**
 * Older answers get no title: nobody waits for one, and reading a log from its beginning would call models for all its
 * conversations.
 */
const MOST_AGE_MS = 10 * 60_000;

/**
 * Titles a conversation by a model after the first exchange, unless its user did. Only once: after a failure, the
 * beginning of the question stays.
 */
@PolicyHandler()
export class TitleConversations implements Policy {
  readonly name = 'title-conversations';
  readonly types = ['AssistantMessageAdded'];
  readonly readsContent = true;
  /** Models take seconds; those of one page are asked at once. */
  readonly concurrency = 50;

  constructor(
    private readonly decisions: Decisions,
    private readonly history: History,
    private readonly titler: Titler,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(recorded: RecordedEvent): Promise<void> {
    const { data, context } = recorded as RecordedAnswer;
    const now = this.clock.now();
    if (data.status === 'failed' || isErased(data.parts) || ageOf(context.recordedAt, now) > MOST_AGE_MS) return;
    const conversationId = idOf(context.stream);
    const { state } = await this.decisions.load(conversationDecider, conversationId);
    const exchange = { messageId: data.parentId, answerId: data.messageId };
    if (state.status !== 'Live' || !awaitsTitle(state, exchange)) return;
    const [question, answer] = [await this.history.message(conversationId, data.parentId), textOf(data.parts)];
    if (question === undefined || answer.trim() === '') return;
    const [kind, keyId = ''] = context.actor.split(':');
    const title = await this.titler.title({
      agent: state,
      requester: { userId: state.userId, ...(kind === 'key' ? { keyId } : {}) },
      question: textOf(question.parts),
      answer,
      model: data.model,
    });
    if (title === undefined) return;
    // The model is paid: the log is waited for.
    await retryUntilAnswered(() => {
      if (this.titler.isClosed) throw new Error('the process stops');
      return this.decisions.transact(
        conversationDecider,
        conversationId,
        { type: 'Title', ...exchange, title },
        reactionTo(recorded, this.name, now),
      );
    });
  }
}

const ageOf = (recordedAt: string, now: Date): number => now.getTime() - Date.parse(recordedAt);

import { type EventCodec, isErased, type RecordedEvent, type StreamLog, streamOf } from '@app/kernel';
import type { ChatMessage } from '@app/models';
import { conversationDecider } from '../conversation/conversation.decider';
import type { ConversationEvent } from '../conversation/conversation.events';
import { textOf } from '../conversation/message-parts';

/** What of a conversation a model is shown, at most: the newest messages. */
const MAX_MESSAGES = 50;
const MAX_CHARACTERS = 100_000;

type MessageAdded = RecordedEvent<Extract<ConversationEvent, { type: 'UserMessageAdded' | 'AssistantMessageAdded' }>>;

export type RecordedAnswer = RecordedEvent<Extract<ConversationEvent, { type: 'AssistantMessageAdded' }>>;

/** Reads messages from the log itself: the view may be behind the turn before. */
export class History {
  constructor(
    private readonly log: StreamLog,
    private readonly codec: EventCodec,
  ) {}

  /** The branch that ends with a message, oldest first, as a model sees it. Failed and erased messages are left out. */
  async branch(conversationId: string, last: string): Promise<readonly ChatMessage[]> {
    const added = await this.messages(conversationId);
    const branch: ChatMessage[] = [];
    let room = MAX_CHARACTERS;
    for (let event = added.get(last); event !== undefined && branch.length < MAX_MESSAGES; event = added.get(event.data.parentId ?? '')) {
      const text = shownText(event);
      room -= text.length;
      if (room < 0 && branch.length > 0) break;
      if (text !== '') branch.unshift({ role: event.type === 'UserMessageAdded' ? 'user' : 'assistant', text });
    }
    return branch;
  }

  /** The answer with this id, undefined while there is none. */
  async answer(conversationId: string, answerId: string): Promise<RecordedAnswer | undefined> {
    const event = (await this.messages(conversationId)).get(answerId);
    return event?.type === 'AssistantMessageAdded' ? event : undefined;
  }

  private async messages(conversationId: string): Promise<ReadonlyMap<string, MessageAdded>> {
    const stored = await this.log.readStream(streamOf(conversationDecider.category, conversationId));
    const events = await this.codec.decode(stored);
    const added = events.filter((event): event is MessageAdded => event.type === 'UserMessageAdded' || event.type === 'AssistantMessageAdded');
    return new Map(added.map((event) => [event.data.messageId, event]));
  }
}

const shownText = (event: MessageAdded): string => {
  if (isErased(event.data.parts) || (event.type === 'AssistantMessageAdded' && event.data.status === 'failed')) return '';
  return textOf(event.data.parts);
};

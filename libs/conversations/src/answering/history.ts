import {
  type EventCodec,
  isErased,
  type RecordedEvent,
  type StoredEvent,
  type StreamReader,
  streamOf,
} from '@app/kernel';
import type { ChatMessage } from '@app/models';
import { conversationDecider } from '../conversation/conversation.decider';
import type { ConversationEvent } from '../conversation/conversation.events';
import { textOf } from '../conversation/message-parts';

/** What of a conversation a model is shown, at most: the newest messages. */
const MAX_MESSAGES = 50;
const MAX_CHARACTERS = 100_000;
/** Events read at once, the newest first: each may be as long as a message. */
const PAGE = 16;

type MessageAdded = RecordedEvent<Extract<ConversationEvent, { type: 'UserMessageAdded' | 'AssistantMessageAdded' }>>;

export type RecordedAnswer = RecordedEvent<Extract<ConversationEvent, { type: 'AssistantMessageAdded' }>>;

/** Reads messages from the log itself: the view may be behind the turn before. */
export class History {
  constructor(
    private readonly log: StreamReader,
    private readonly codec: EventCodec,
  ) {}

  /** The branch that ends with a message, oldest first, as a model sees it, without failed and erased messages. */
  async branch(conversationId: string, last: string): Promise<readonly ChatMessage[]> {
    const newestFirst: ChatMessage[] = [];
    let room = MAX_CHARACTERS;
    let wanted: string | null = last;
    for await (const event of this.messages(conversationId)) {
      if (event.data.messageId !== wanted) continue;
      const text = shownText(event);
      room -= text.length;
      if (room < 0 && newestFirst.length > 0) break;
      if (text !== '') newestFirst.push({ role: event.type === 'UserMessageAdded' ? 'user' : 'assistant', text });
      wanted = event.data.parentId;
      if (wanted === null || newestFirst.length === MAX_MESSAGES) break;
    }
    return newestFirst.toReversed();
  }

  /** The answer with this id; undefined while there is none. */
  async answer(conversationId: string, answerId: string): Promise<RecordedAnswer | undefined> {
    for await (const event of this.messages(conversationId)) {
      if (event.data.messageId === answerId) return event.type === 'AssistantMessageAdded' ? event : undefined;
    }
    return undefined;
  }

  /** The newest first, read as far back as somebody asks: a message stands behind its parent. */
  private async *messages(conversationId: string): AsyncGenerator<MessageAdded> {
    const stream = streamOf(conversationDecider.category, conversationId);
    for (let from: number | undefined; from !== -1;) {
      const page: readonly StoredEvent[] = await this.log.readStream(stream, {
        direction: 'backwards',
        limit: PAGE,
        ...(from === undefined ? {} : { from }),
      });
      // Both types are of messages, whose data the codec has checked.
      yield* (await this.codec.decode(
        page.filter(({ type }) => MESSAGES.has(type)),
      )) as unknown as readonly MessageAdded[];
      from = (page.at(-1)?.revision ?? 0) - 1;
    }
  }
}

const MESSAGES: ReadonlySet<string> = new Set<MessageAdded['type']>(['UserMessageAdded', 'AssistantMessageAdded']);

const shownText = (event: MessageAdded): string => {
  if (isErased(event.data.parts) || (event.type === 'AssistantMessageAdded' && event.data.status === 'failed'))
    return '';
  return textOf(event.data.parts);
};

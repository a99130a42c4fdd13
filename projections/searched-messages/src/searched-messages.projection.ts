import { type ConversationEvent, conversationScope, SEARCHED_MESSAGES, textOf } from '@app/conversations';
import { idOf, isErased, never, type RecordedEvent } from '@app/kernel';
import type { SearchProjection } from '@app/projecting';

/** So much of a message is searched, characters: its beginning. */
export const MOST_SEARCHED = 100_000;

type Searched = Extract<
  ConversationEvent,
  { type: 'UserMessageAdded' | 'AssistantMessageAdded' | 'MessageDeleted' | 'ConversationDeleted' }
>;

/** What was said in conversations, on all their branches, until it is deleted: each message is a document of one passage, in the scope of its conversation. */
export const searchedMessages: SearchProjection = {
  kind: 'search',
  name: SEARCHED_MESSAGES,
  version: 3,
  mostAtOnce: 200,
  types: ['UserMessageAdded', 'AssistantMessageAdded', 'MessageDeleted', 'ConversationDeleted'],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<Searched>;
    const { stream, revision } = event.context;
    switch (event.type) {
      case 'UserMessageAdded':
      case 'AssistantMessageAdded': {
        const { messageId, conversationId, parts } = event.data;
        const text = isErased(parts) ? '' : textOf(parts).slice(0, MOST_SEARCHED).toWellFormed();
        if (text.trim() === '') return [];
        const passage = {
          chunkId: messageId,
          ordinal: 0,
          text,
          headings: [],
          start: 0,
          end: text.length,
          enabled: true,
        };
        return [
          {
            op: 'putDocument',
            documentId: messageId,
            stream,
            name: '',
            scope: conversationScope(conversationId),
            tagIds: [],
            revision,
            embeddingModel: null,
            passages: [passage],
          },
        ];
      }
      case 'MessageDeleted':
        return [{ op: 'removeDocument', documentId: event.data.messageId }];
      case 'ConversationDeleted':
        return [{ op: 'removeScope', scope: conversationScope(idOf(stream)) }];
      default:
        return never(event);
    }
  },
};

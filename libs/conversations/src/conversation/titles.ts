import type { LiveConversation } from './conversation.decider';
import type { ConversationEvent } from './conversation.events';

type Titled = Extract<ConversationEvent, { type: 'ConversationTitled' }>['data'];

/**
 * A model's title, made from the first question of a conversation and its answer. No event if it has a title by now, or
 * if either is gone.
 */
export interface Title {
  readonly type: 'Title';
  readonly messageId: string;
  readonly answerId: string;
  readonly title: string;
}

/**
 * Whether a model may title a conversation from its first question and this answer: neither its user nor a model has
 * done so.
 */
export const awaitsTitle = (
  { titleOf, isTitled, parents }: LiveConversation,
  { messageId, answerId }: Pick<Title, 'messageId' | 'answerId'>,
): boolean => !isTitled && titleOf === messageId && parents.has(messageId) && parents.has(answerId);

export const titled = (command: Title, state: LiveConversation): readonly ConversationEvent[] => {
  const { messageId, answerId, title } = command;
  return awaitsTitle(state, command) ? [{ type: 'ConversationTitled', data: { title, messageId, answerId } }] : [];
};

/** The user's own title. */
export const retitled = (title: string | undefined, state: LiveConversation): readonly ConversationEvent[] =>
  title === undefined || title === state.title ? [] : [{ type: 'ConversationRenamed', data: { title } }];

export const wasTitled = (state: LiveConversation, { title, messageId, answerId }: Titled): LiveConversation => ({
  ...state,
  title,
  titleOf: messageId,
  titledFrom: answerId ?? null,
  isTitled: true,
});

import { type RecordedEvent, reject } from '@app/kernel';
import { checkpointDeleted, checkpointsWith } from './checkpoints';
import type { LiveConversation } from './conversation.decider';
import type { OpenTurn } from './open-turns';
import type { ConversationEvent } from './conversation.events';

type MessageDeleted = Extract<ConversationEvent, { type: 'MessageDeleted' }>;

/** Of a conversation that tells nothing of itself. */
export const NO_TITLE = 'New conversation';

/** Whether a conversation has a message, or makes it at the moment. */
const isMessage = (messageId: string, { parents, open }: LiveConversation): boolean =>
  parents.has(messageId) || open.has(messageId);

/** Whether an answer under way ends when a message is deleted: its own, or its question. */
export const endsWith = (turn: OpenTurn, messageId: string): boolean =>
  turn.answerId === messageId || turn.messageId === messageId;

/** As `messageDeleted`. Rejects `not_found` for one that there never was. */
export const knownMessageDeleted = (messageId: string, live: LiveConversation): readonly ConversationEvent[] =>
  live.deleted.has(messageId) || isMessage(messageId, live)
    ? messageDeleted(messageId, live)
    : reject('not_found', { kind: 'message', id: messageId });

/**
 * The events that delete a message. None for an unknown or deleted one. The title and the summaries that were made from
 * it are removed first, so a policy that waits for the deletion finds them gone.
 */
export const messageDeleted = (messageId: string, state: LiveConversation): readonly ConversationEvent[] => {
  if (!isMessage(messageId, state)) return [];
  const { conversationId, parents, open, titleOf, titledFrom } = state;
  const unfinished = [...open.values()]
    .filter((turn) => endsWith(turn, messageId))
    .map((turn) => unfinishedDeleted(turn, state));
  if (open.has(messageId)) return unfinished;
  const childIds = [...parents].flatMap(([child, parent]) => (parent === messageId ? [child] : []));
  return [
    ...(titleOf === messageId || titledFrom === messageId
      ? [{ type: 'ConversationTitled' as const, data: { title: NO_TITLE, messageId: null } }]
      : []),
    ...unfinished,
    ...checkpointsWith(messageId, state).flatMap((checkpointId) => checkpointDeleted(checkpointId, state)),
    { type: 'MessageDeleted', data: { conversationId, messageId, parentId: parents.get(messageId) ?? null, childIds } },
  ];
};

const unfinishedDeleted = (turn: OpenTurn, { conversationId }: LiveConversation): MessageDeleted => ({
  type: 'MessageDeleted',
  data: { conversationId, messageId: turn.answerId, parentId: turn.messageId, childIds: [], isUnfinished: true },
});

/** The messages below it move to the one above it. */
export const withoutMessage = (
  state: LiveConversation,
  { messageId, parentId, childIds }: MessageDeleted['data'],
): LiveConversation => ({
  ...state,
  parents: state.parents.delete(messageId).concat(childIds.map((child) => [child, parentId])),
  places: state.places.delete(messageId),
  answers: state.answers.delete(messageId),
  deleted: state.deleted.add(messageId),
  last: state.last === messageId ? parentId : state.last,
  open: state.open.delete(messageId),
});

/** The place of a message is that of its event. */
export const withMessage = (
  state: LiveConversation,
  {
    type,
    data,
    context,
  }: Extract<RecordedEvent<ConversationEvent>, { type: 'UserMessageAdded' | 'AssistantMessageAdded' }>,
): LiveConversation => ({
  ...state,
  parents: state.parents.set(data.messageId, data.parentId),
  places: state.places.set(data.messageId, context.revision),
  answers: type === 'AssistantMessageAdded' ? state.answers.add(data.messageId) : state.answers,
  last: data.messageId,
});

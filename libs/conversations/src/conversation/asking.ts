import { reject } from '@app/kernel';
import type { Ask, GiveFeedback, Regenerate } from './conversation.commands';
import type { LiveConversation } from './conversation.decider';
import type { ConversationEvent } from './conversation.events';
import type { OpenTurn } from './open-turns';

/** The first question of a new conversation. */
export const begun = (command: Ask): readonly ConversationEvent[] => {
  const { conversationId, agentId, spaceId, userId, kind = 'normal', title, messageId, parentId } = command;
  if (typeof parentId === 'string') return reject('not_found', { kind: 'message', id: parentId, path: 'parentId' });
  return [
    { type: 'ConversationStarted', data: { conversationId, agentId, spaceId, userId, kind, title, messageId } },
    questionAdded(command, null),
  ];
};

/** A question in a conversation: after any of its messages, so several questions may follow the same message. */
export const asked = (command: Ask, live: LiveConversation): readonly ConversationEvent[] => {
  if (command.kind !== undefined && command.kind !== live.kind)
    return reject('conflict', { reason: 'other_kind', path: 'kind' });
  const parentId = command.parentId === undefined ? live.last : command.parentId;
  if (openTurnAt(live, parentId) !== undefined) return reject('turn_in_progress');
  if (typeof command.parentId === 'string' && !live.parents.has(command.parentId))
    return reject('not_found', { kind: 'message', id: command.parentId, path: 'parentId' });
  return [questionAdded(command, parentId)];
};

/** One more answer to a question. Only one is made of it at a time. */
export const askedAgain = (
  { messageId, answerId, channel, memory }: Regenerate,
  live: LiveConversation,
): readonly ConversationEvent[] => {
  const { conversationId } = live;
  const question = questionOf(live, messageId) ?? reject('not_found', { kind: 'message', id: messageId });
  if (openTurnAt(live, question) !== undefined) return reject('turn_in_progress');
  return [
    {
      type: 'AnswerRequested',
      data: { conversationId, messageId: question, answerId, channel, ...(memory && { memory }) },
    },
  ];
};

export const feedbackGiven = (
  { messageId, rating, comment }: GiveFeedback,
  { conversationId, answers }: LiveConversation,
): readonly ConversationEvent[] => {
  if (!answers.has(messageId)) return reject('not_found', { kind: 'message', id: messageId });
  const said = rating === null || comment === undefined ? {} : { comment };
  return [{ type: 'FeedbackGiven', data: { conversationId, messageId, rating, ...said } }];
};

/** The question that a message is, or is an answer to, finished or under way; undefined where there is none, or it was deleted. */
export const questionOf = ({ parents, answers, open }: LiveConversation, messageId: string): string | undefined => {
  const question = answers.has(messageId) ? parents.get(messageId) : (open.get(messageId)?.messageId ?? messageId);
  return question === null || question === undefined || answers.has(question) || !parents.has(question)
    ? undefined
    : question;
};

/** The turn that a message is the question or the answer of, while it waits for its answer: what follows the message would be of its branch. */
export const openTurnAt = ({ open }: LiveConversation, messageId: string | null): OpenTurn | undefined =>
  messageId === null ? undefined : (open.get(messageId) ?? open.find((turn) => turn.messageId === messageId));

const questionAdded = (
  { conversationId, messageId, parts, answerId, channel, memory, tokens }: Ask,
  parentId: string | null,
): ConversationEvent => {
  const fileIds = parts.flatMap((part) => (part.type === 'file' ? [part.fileId] : []));
  const named = fileIds.length === 0 ? {} : { fileIds };
  return {
    type: 'UserMessageAdded',
    data: {
      conversationId,
      messageId,
      parentId,
      parts: [...parts],
      answerId,
      channel,
      ...(memory && { memory }),
      ...named,
      ...(tokens === undefined ? {} : { tokens }),
    },
  };
};

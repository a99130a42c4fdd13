import type { Ask, Participants } from '../conversation/conversation.commands';
import type { Channel, ConversationKind } from '../conversation/conversation.events';
import { NO_TITLE } from '../conversation/message-deletion';
import { type QuestionPart, textOf } from '../conversation/message-parts';
import type { AnsweringAgent } from './answering';
import type { Requester } from './retriever';

/** What an Agent is asked. */
export interface Question {
  /** Absent: a new conversation. */
  readonly conversationId?: string;
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agent: AnsweringAgent;
  /** None where a question is answered once more. */
  readonly parts: readonly QuestionPart[];
  /** The message that it follows, null for none; the last one by default. */
  readonly parentId?: string | null;
  /** The question that is answered once more, or one of its answers, instead of a new one. */
  readonly regenerates?: string;
  readonly kind?: ConversationKind;
  readonly channel: Channel;
  /** No memories, because an API streams the answer. A further answer to a question keeps the setting of the first. */
  readonly memory?: 'off' | undefined;
}

export interface TurnIds {
  readonly conversationId: string;
  readonly answerId: string;
  readonly messageId: string;
}

/** A user's answer to a call that must be approved. */
export interface CallResponse {
  readonly participants: Participants;
  readonly agent: AnsweringAgent;
  /** Whether the answer may continue with the model that made it so far; otherwise it uses the Agent's. */
  readonly mayUse?: (model: string) => boolean;
  readonly requester: Requester;
  readonly conversationId: string;
  readonly answerId: string;
  readonly callId: string;
  readonly approved: boolean;
}

/** The command that a question is. */
export const askOf = (
  { conversationId: given, agent, parts, parentId, kind, channel, memory }: Question,
  ids: Participants & TurnIds,
): Ask => ({
  type: 'Ask',
  create: given === undefined,
  ...ids,
  spaceId: agent.spaceId,
  ...(kind === undefined ? {} : { kind }),
  title: titleOf(textOf(parts)),
  parts,
  channel,
  ...(memory && { memory }),
  ...(parentId === undefined ? {} : { parentId }),
});

/** Longest title made from a question, characters. */
const MAX_TITLE = 80;

/** The title of a conversation until its user gives another: the beginning of the first question. */
const titleOf = (question: string): string => {
  const text = question.replace(/[\p{C}\s]+/gu, ' ').trim();
  if (text === '') return NO_TITLE;
  if (text.length <= MAX_TITLE) return text;
  const cut = text.slice(0, MAX_TITLE).toWellFormed();
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_TITLE / 2)).trimEnd()}…`;
};

import { type EventOf, isErased } from '@app/kernel';
import { continued, type Continuation } from './continuation';
import type { LiveConversation } from './conversation.decider';
import type { assistantMessageContinued, Channel, ConversationEvent } from './conversation.events';
import { continuedParts, type MessagePart } from './message-parts';
import type { PausedAnswer } from './tool-approvals';

/** Where a question comes from, and what follows from that. */
export interface TurnOrigin {
  readonly channel: Channel;
  /** No memories, whatever the Agent has. Once more, a question keeps what held for it first. */
  readonly memory?: 'off' | undefined;
}

/** A question that waits for its answer. */
export interface OpenTurn {
  readonly messageId: string;
  readonly answerId: string;
  readonly channel: Channel;
  /** What was saved of the answer so far. */
  readonly parts: readonly MessagePart[];
  /** Whether calls must be approved before it goes on; no process works on it until then. */
  readonly isWaiting: boolean;
  /** Of one that waits, or has waited. */
  readonly paused?: PausedAnswer;
}

/** More of an answer under way. */
export interface Continue extends Continuation {
  readonly type: 'Continue';
  readonly answerId: string;
}

/** The new part of an answer. No event if it would leave a gap, is already saved, or if nobody waits for the answer. */
export const goesOn = (
  { answerId, part, offset, parts }: Continue,
  { conversationId, open }: LiveConversation,
): readonly ConversationEvent[] => {
  const turn = open.get(answerId);
  if (turn === undefined || continued(turn.parts, { part, offset, parts }) === turn.parts) return [];
  return [
    {
      type: 'AssistantMessageContinued',
      data: { conversationId, messageId: answerId, parentId: turn.messageId, part, offset, parts: [...parts] },
    },
  ];
};

export const wentOn = (turn: OpenTurn, data: EventOf<typeof assistantMessageContinued>['data']): OpenTurn => {
  const parts = continuedParts(data);
  return isErased(parts)
    ? turn
    : { ...turn, parts: continued(turn.parts, { part: data.part, offset: data.offset, parts }) };
};

/** A conversation whose turn changed; the same where the turn is none that is open. */
export const withTurn = (
  state: LiveConversation,
  answerId: string,
  change: (turn: OpenTurn) => OpenTurn,
): LiveConversation => {
  const turn = state.open.get(answerId);
  return turn === undefined ? state : { ...state, open: state.open.set(answerId, change(turn)) };
};

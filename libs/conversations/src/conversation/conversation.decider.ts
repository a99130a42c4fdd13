import { isErased, never, reject, type Decider, type Sensitive } from '@app/kernel';
import type { InvocationUsage } from '@app/models';
import { Map as PersistentMap } from 'immutable';
import type { ConversationEvent, ConversationKind } from './conversation.events';
import type { MessagePart, TextPart } from './message-parts';

export interface OpenTurn {
  readonly messageId: string;
  readonly answerId: string;
  /** What was saved of the answer so far. */
  readonly said: string;
}

export interface LiveConversation {
  readonly status: 'Live';
  readonly conversationId: string;
  readonly agentId: string;
  readonly spaceId: string;
  readonly userId: string;
  readonly kind: ConversationKind;
  readonly title: Sensitive<string>;
  readonly archived: boolean;
  /** Parent of every message, null for the first ones. Texts are not kept: they are read from the log when needed. */
  readonly parents: PersistentMap<string, string | null>;
  readonly last: string | null;
  /** The turn that waits for its answer. */
  readonly open: OpenTurn | null;
}

export type ConversationState = { readonly status: 'Absent' } | LiveConversation | { readonly status: 'Deleted' };

/** Whose conversation, with which Agent: what does not fit is unknown. */
export interface Party {
  readonly userId: string;
  readonly agentId: string;
}

export interface Ask extends Party {
  readonly type: 'Ask';
  /** True when the caller named no conversation. */
  readonly create: boolean;
  readonly conversationId: string;
  readonly spaceId: string;
  readonly kind: ConversationKind;
  /** For a new conversation. */
  readonly title: string;
  readonly messageId: string;
  readonly answerId: string;
  /** The message answered to; the last one by default. */
  readonly parentId?: string;
  readonly parts: readonly TextPart[];
  readonly channel: 'api' | 'web' | 'embed' | 'app';
}

export interface Answer {
  readonly type: 'Answer';
  readonly answerId: string;
  readonly parts: readonly MessagePart[];
  readonly status: 'complete' | 'stopped' | 'failed';
  readonly finishReason: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  readonly errorCode?: string;
  /** Models that did not answer, so that Knowledge was searched without them. */
  readonly degraded?: readonly ('vector' | 'rerank')[];
  readonly model: string;
  readonly usage: InvocationUsage | null;
}

export type ConversationCommand =
  | Ask
  | Answer
  /** More of the answer under way, from an offset in its text on. */
  | { readonly type: 'Continue'; readonly answerId: string; readonly from: number; readonly text: string }
  | (Party & { readonly type: 'Update'; readonly title?: string; readonly archived?: boolean })
  | (Party & { readonly type: 'Delete' })
  /** Deletion that follows from the deletion of the Agent, the Space or the user. */
  | { readonly type: 'Remove' };

/**
 * One turn at a time: a question during an answer throws `turn_in_progress`. Throws `not_found` for what is unknown, deleted,
 * of another user or of another Agent.
 */
export const conversationDecider: Decider<ConversationState, ConversationCommand, ConversationEvent> = {
  category: 'conversation',
  initial: { status: 'Absent' },
  decide: (command, state) => {
    switch (command.type) {
      case 'Ask':
        return ask(command, state);
      case 'Answer':
        return answer(command, state);
      case 'Continue':
        return continued(command, state);
      case 'Update': {
        const live = known(command, state);
        return [...retitled(command.title, live), ...archived(command.archived, live)];
      }
      case 'Delete':
        if (state.status === 'Deleted') return [];
        known(command, state);
        return [{ type: 'ConversationDeleted', data: {} }];
      case 'Remove':
        return state.status === 'Live' ? [{ type: 'ConversationDeleted', data: {} }] : [];
      default:
        return never(command);
    }
  },
  evolve: (state, event) => {
    if (event.type === 'ConversationStarted')
      return { status: 'Live', ...event.data, archived: false, parents: PersistentMap(), last: null, open: null };
    return state.status === 'Live' ? evolveLive(state, event) : state;
  },
  owner: (event) =>
    event.type === 'ConversationStarted' ? { userId: event.data.userId, spaceId: event.data.spaceId } : {},
};

const known = (party: Party, state: ConversationState): LiveConversation =>
  state.status === 'Live' && state.userId === party.userId && state.agentId === party.agentId
    ? state
    : reject('not_found');

const ask = (command: Ask, state: ConversationState): readonly ConversationEvent[] => {
  const { conversationId, agentId, spaceId, userId, kind, title } = command;
  if (command.create && state.status === 'Absent') {
    if (command.parentId !== undefined)
      return reject('not_found', { kind: 'message', id: command.parentId, field: 'parentId' });
    return [
      { type: 'ConversationStarted', data: { conversationId, agentId, spaceId, userId, kind, title } },
      asked(command, null),
    ];
  }
  const live = known(command, state);
  if (live.open !== null) return reject('turn_in_progress');
  if (command.parentId !== undefined && !live.parents.has(command.parentId))
    return reject('not_found', { kind: 'message', id: command.parentId, field: 'parentId' });
  return [asked(command, command.parentId ?? live.last)];
};

const asked = (
  { conversationId, messageId, parts, answerId, channel }: Ask,
  parentId: string | null,
): ConversationEvent => ({
  type: 'UserMessageAdded',
  data: { conversationId, messageId, parentId, parts: [...parts], answerId, channel },
});

/** An answer that nobody waits for lost a race (the turn was closed, the conversation deleted) and is dropped. */
const answer = (
  { type: _type, answerId, parts, degraded, ...rest }: Answer,
  state: ConversationState,
): readonly ConversationEvent[] =>
  state.status === 'Live' && state.open?.answerId === answerId
    ? [
        {
          type: 'AssistantMessageAdded',
          data: {
            ...rest,
            conversationId: state.conversationId,
            messageId: answerId,
            parentId: state.open.messageId,
            parts: [...parts],
            ...(degraded === undefined ? {} : { degraded: [...degraded] }),
          },
        },
      ]
    : [];

const continued = (
  { answerId, from, text }: Extract<ConversationCommand, { type: 'Continue' }>,
  state: ConversationState,
): readonly ConversationEvent[] => {
  if (state.status !== 'Live' || state.open?.answerId !== answerId) return [];
  const { said } = state.open;
  // What would leave a gap, and what is said already.
  if (from > said.length || continuedBy(said, from, text) === said) return [];
  return [
    {
      type: 'AssistantMessageContinued',
      data: { conversationId: state.conversationId, messageId: answerId, parentId: state.open.messageId, from, text },
    },
  ];
};

const continuedBy = (said: string, from: number, text: string): string => said.slice(0, from) + text;

const retitled = (title: string | undefined, state: LiveConversation): readonly ConversationEvent[] =>
  title === undefined || title === state.title ? [] : [{ type: 'ConversationRenamed', data: { title } }];

const archived = (wanted: boolean | undefined, state: LiveConversation): readonly ConversationEvent[] =>
  wanted === undefined || wanted === state.archived
    ? []
    : [{ type: wanted ? 'ConversationArchived' : 'ConversationUnarchived', data: {} }];

const evolveLive = (
  state: LiveConversation,
  event: Exclude<ConversationEvent, { type: 'ConversationStarted' }>,
): ConversationState => {
  switch (event.type) {
    case 'UserMessageAdded': {
      const { messageId, parentId, answerId } = event.data;
      return {
        ...state,
        parents: state.parents.set(messageId, parentId),
        last: messageId,
        open: { messageId, answerId, said: '' },
      };
    }
    case 'AssistantMessageContinued': {
      const { from, text } = event.data;
      return state.open === null || isErased(text)
        ? state
        : { ...state, open: { ...state.open, said: continuedBy(state.open.said, from, text) } };
    }
    case 'AssistantMessageAdded': {
      const { messageId, parentId } = event.data;
      return { ...state, parents: state.parents.set(messageId, parentId), last: messageId, open: null };
    }
    case 'ConversationRenamed':
      return { ...state, title: event.data.title };
    case 'ConversationArchived':
      return { ...state, archived: true };
    case 'ConversationUnarchived':
      return { ...state, archived: false };
    case 'ConversationDeleted':
      return { status: 'Deleted' };
    default:
      return never(event);
  }
};

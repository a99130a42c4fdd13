import { never, type RecordedEvent, reject, type Decider, type Sensitive } from '@app/kernel';
import { Map as PersistentMap, OrderedMap, Set as PersistentSet } from 'immutable';
import { asked, askedAgain, begun, feedbackGiven } from './asking';
import type { Answer, ConversationCommand, Participants } from './conversation.commands';
import type { ConversationEvent, ConversationKind } from './conversation.events';
import { type Checkpoints, checkpointsAfter, decideCheckpoint } from './checkpoints';
import { conversationSnapshot } from './conversation.snapshot';
import { knownMessageDeleted, messageDeleted, withMessage, withoutMessage } from './message-deletion';
import { type Continue, goesOn, type OpenTurn, wentOn, withTurn } from './open-turns';
import { retitled, titled, wasTitled } from './titles';
import { responded, responds, type Wait, waiting, waits } from './tool-approvals';

/** A conversation that is there, without the words in it. */
export interface LiveConversation {
  readonly status: 'Live';
  readonly conversationId: string;
  readonly agentId: string;
  readonly spaceId: string;
  readonly userId: string;
  readonly kind: ConversationKind;
  /** Erased also where a snapshot was read: it holds no content. */
  readonly title: Sensitive<string>;
  /** The message that the title is made from; null where its user gave it, or it says nothing. */
  readonly titleOf: string | null;
  /** The answer from which a model made the title; null if it made none, or if that is unknown (titles before 1.6). */
  readonly titledFrom: string | null;
  /** A model has titled it, or its user: it is titled once. */
  readonly isTitled: boolean;
  readonly archived: boolean;
  /** Parent of every message, null for the first ones. Texts are not kept: they are read from the log when needed. */
  readonly parents: PersistentMap<string, string | null>;
  /** The revision of the event that holds each message: what it says is read from there. */
  readonly places: PersistentMap<string, number>;
  /** Those of them that are answers. */
  readonly answers: PersistentSet<string>;
  /** Deleted messages: `parents` and `places` no longer contain them. */
  readonly deleted: PersistentSet<string>;
  /** Summaries that models are shown in place of what they were made from, by their ids. */
  readonly checkpoints: Checkpoints;
  readonly last: string | null;
  /** Turns that wait for their answers, by the ids of these, the oldest first: one a branch. */
  readonly open: OrderedMap<string, OpenTurn>;
}

/** State of a conversation. */
export type ConversationState = { readonly status: 'Absent' } | LiveConversation | { readonly status: 'Deleted' };

/**
 * A branch has one turn at a time: a question after one that still waits for its answer throws `turn_in_progress`.
 * Throws `not_found` for messages that are unknown, deleted, of another user or of another Agent.
 */
export const conversationDecider: Decider<ConversationState, ConversationCommand, ConversationEvent> = {
  category: 'conversation',
  initial: { status: 'Absent' },
  decide: (command, state) => {
    switch (command.type) {
      case 'Ask':
        return command.create && state.status === 'Absent' ? begun(command) : asked(command, known(command, state));
      case 'Regenerate':
        return askedAgain(command, known(command, state));
      case 'GiveFeedback':
        return feedbackGiven(command, known(command, state));
      case 'Answer':
      case 'Continue':
      case 'Wait':
        return whileLive(state, (live) => ofTurn(command, live));
      case 'Respond':
        return responds(command, known(command, state));
      case 'Update': {
        const live = known(command, state);
        return [...retitled(command.title, live), ...archived(command.archived, live)];
      }
      case 'Delete':
        if (state.status === 'Deleted') return [];
        known(command, state);
        return deleted(command);
      case 'Title':
        return whileLive(state, (live) => titled(command, live));
      case 'DeleteMessage':
        return knownMessageDeleted(command.messageId, known(command, state));
      case 'RemoveMessage':
        return whileLive(state, (live) => messageDeleted(command.messageId, live));
      case 'Compact':
      case 'RemoveCheckpoint':
        return whileLive(state, (live) => decideCheckpoint(command, live));
      case 'Remove':
        return state.status === 'Live' ? [{ type: 'ConversationDeleted', data: {} }] : [];
      default:
        return never(command);
    }
  },
  evolve: (state, event) => {
    if (event.type === 'ConversationStarted') return started(event.data);
    return state.status === 'Live' ? evolveLive(state, event) : state;
  },
  withoutContent: new Set(['UserMessageAdded', 'AssistantMessageAdded', 'ConversationCompacted']),
  snapshot: conversationSnapshot,
  owner: (event) =>
    event.type === 'ConversationStarted' ? { userId: event.data.userId, spaceId: event.data.spaceId } : {},
};

const started = ({
  messageId: titleOf,
  ...data
}: Extract<ConversationEvent, { type: 'ConversationStarted' }>['data']): LiveConversation => ({
  status: 'Live',
  ...data,
  titleOf,
  titledFrom: null,
  isTitled: false,
  archived: false,
  parents: PersistentMap(),
  places: PersistentMap(),
  answers: PersistentSet(),
  checkpoints: PersistentMap(),
  deleted: PersistentSet(),
  last: null,
  open: OrderedMap(),
});

const known = (participants: Participants, state: ConversationState): LiveConversation =>
  state.status === 'Live' && state.userId === participants.userId && state.agentId === participants.agentId
    ? state
    : reject('not_found');

/** What is said by others than the user says nothing of a conversation that is gone. */
const whileLive = (
  state: ConversationState,
  decide: (live: LiveConversation) => readonly ConversationEvent[],
): readonly ConversationEvent[] => (state.status === 'Live' ? decide(state) : []);

/** What the process that works on a turn says of it. */
const ofTurn = (command: Answer | Continue | Wait, live: LiveConversation): readonly ConversationEvent[] => {
  if (command.type === 'Answer') return answer(command, live);
  return command.type === 'Wait' ? waits(command, live) : goesOn(command, live);
};

const deleted = ({
  memories,
  userId,
}: Extract<ConversationCommand, { type: 'Delete' }>): readonly ConversationEvent[] => [
  { type: 'ConversationDeleted', data: memories === true ? { memoriesOf: userId } : {} },
];

/** An answer that nobody waits for lost a race (the turn was closed, the conversation deleted) and is dropped. */
const answer = (
  { type: _type, answerId, parts, degraded, ...rest }: Answer,
  state: LiveConversation,
): readonly ConversationEvent[] => {
  const turn = state.open.get(answerId);
  if (turn === undefined) return [];
  return [
    {
      type: 'AssistantMessageAdded',
      data: {
        ...rest,
        conversationId: state.conversationId,
        messageId: answerId,
        parentId: turn.messageId,
        channel: turn.channel,
        parts: [...parts],
        ...(degraded === undefined ? {} : { degraded: [...degraded] }),
      },
    },
  ];
};

const archived = (wanted: boolean | undefined, state: LiveConversation): readonly ConversationEvent[] =>
  wanted === undefined || wanted === state.archived
    ? []
    : [{ type: wanted ? 'ConversationArchived' : 'ConversationUnarchived', data: {} }];

const evolveLive = (
  state: LiveConversation,
  event: Exclude<RecordedEvent<ConversationEvent>, { type: 'ConversationStarted' }>,
): ConversationState => {
  switch (event.type) {
    case 'UserMessageAdded': {
      const { messageId, answerId, channel } = event.data;
      return {
        ...withMessage(state, event),
        // Of before messages had keys: the title is the beginning of the first one.
        titleOf: state.titleOf ?? (state.deleted.isEmpty() && state.parents.isEmpty() ? messageId : null),
        open: state.open.set(answerId, { messageId, answerId, channel, parts: [], isWaiting: false }),
      };
    }
    case 'AnswerRequested': {
      const { messageId, answerId, channel } = event.data;
      const turn = { messageId, answerId, channel, parts: [], isWaiting: false };
      return { ...state, open: state.open.set(answerId, turn) };
    }
    case 'FeedbackGiven':
      return state;
    case 'AssistantMessageContinued':
      return withTurn(state, event.data.messageId, (turn) => wentOn(turn, event.data));
    case 'ToolApprovalRequested':
      return withTurn(state, event.data.messageId, (turn) => waiting(turn, event.data));
    case 'ToolApprovalResponded':
      return withTurn(state, event.data.messageId, (turn) => responded(turn, event.data));
    case 'AssistantMessageAdded':
      return { ...withMessage(state, event), open: state.open.delete(event.data.messageId) };
    case 'MessageDeleted':
      return withoutMessage(state, event.data);
    case 'ConversationTitled':
      return wasTitled(state, event.data);
    case 'ConversationCompacted':
    case 'CheckpointDeleted':
      return { ...state, checkpoints: checkpointsAfter(state.checkpoints, event) };
    case 'ConversationRenamed':
      return { ...state, title: event.data.title, titleOf: null, titledFrom: null, isTitled: true };
    case 'ConversationArchived':
    case 'ConversationUnarchived':
      return { ...state, archived: event.type === 'ConversationArchived' };
    case 'ConversationDeleted':
      return { status: 'Deleted' };
    default:
      return never(event);
  }
};

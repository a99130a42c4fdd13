import { type EventOf, placeOf, reject, type Sensitive } from '@app/kernel';
import type { InvocationUsage } from '@app/models';
import type { RetrievedPassage } from '../answering/retriever';
import { continued, type Continuation } from './continuation';
import type { Participants } from './conversation.commands';
import type { LiveConversation } from './conversation.decider';
import type { Invocation } from './checkpoint.events';
import type { OpenTurn } from './open-turns';
import type { CopiedText, ProvenanceUntilNow, TurnBegun } from './provenance.schema';
import type { ConversationEvent } from './conversation.events';
import type { MessagePart, ToolPart } from './message-parts';
import type { toolApprovalRequested, toolApprovalResponded } from './tool-approval.events';

/** What an answer that waited goes on with, beside its parts. */
export interface PausedAnswer {
  readonly model: string;
  readonly usage: InvocationUsage | null;
  readonly degraded?: readonly ('vector' | 'rerank')[];
  /** What it may cite, as earlier versions kept it. */
  readonly passages?: Sensitive<readonly RetrievedPassage[]>;
  /** What it may cite. */
  readonly sources?: Sensitive<readonly CopiedText[]>;
  /** Calls of models until then. */
  readonly invocations?: readonly Invocation[];
  /** The Skills and memories that it keeps. */
  readonly began?: TurnBegun;
  /** What it is made from until then. */
  readonly provenance?: ProvenanceUntilNow;
}

/** An answer that waited, with what was said of it and what it may cite. */
export interface ResumedAnswer {
  readonly parts: readonly MessagePart[];
  readonly paused: PausedAnswer;
  readonly passages: readonly RetrievedPassage[];
}

/** An answer waits for approvals; `more`: what was not saved of it yet. */
export interface Wait extends Omit<PausedAnswer, 'passages'> {
  readonly type: 'Wait';
  readonly answerId: string;
  readonly sources: readonly CopiedText[];
  readonly more: Continuation | undefined;
}

/** The user's answer to a call that must be approved. */
export interface Respond extends Participants {
  readonly type: 'Respond';
  readonly answerId: string;
  readonly callId: string;
  readonly approved: boolean;
}

/** Events of an answer that waits; none where nobody waits for it. */
export const waits = (
  { answerId, more, model, usage, degraded, sources, invocations, began, provenance }: Wait,
  live: LiveConversation,
): readonly ConversationEvent[] => {
  const turn = live.open.get(answerId);
  if (turn === undefined || turn.isWaiting) return [];
  const place = { conversationId: live.conversationId, messageId: answerId, parentId: turn.messageId };
  const parts = more === undefined ? turn.parts : continued(turn.parts, more);
  return [
    ...(more === undefined
      ? []
      : [{ type: 'AssistantMessageContinued' as const, data: { ...place, ...more, parts: [...more.parts] } }]),
    {
      type: 'ToolApprovalRequested',
      data: {
        ...place,
        callIds: requestedIn(parts).map(({ toolCallId }) => toolCallId),
        model,
        usage,
        ...(degraded === undefined ? {} : { degraded: [...degraded] }),
        ...(invocations === undefined ? {} : { invocations: [...invocations] }),
        ...(began === undefined ? {} : { began }),
        ...(provenance === undefined ? {} : { provenance }),
        sources: [...sources],
      },
    },
  ];
};

/**
 * The user's decision, once: a second or opposite one throws `conflict`. Throws `not_found` if it is not a call of the
 * answer.
 */
export const responds = (
  { answerId, callId, approved }: Respond,
  live: LiveConversation,
): readonly ConversationEvent[] => {
  const turn = live.open.get(answerId);
  if (turn === undefined) return reject('conflict', { reason: 'call_decided' });
  const call = turn.parts.find((part) => part.type === 'tool' && part.toolCallId === callId) as ToolPart | undefined;
  if (call === undefined) return reject('not_found', { kind: 'toolCall', id: callId });
  if (!turn.isWaiting || call.state !== 'approval-requested') return reject('conflict', { reason: 'call_decided' });
  const { conversationId } = live;
  return [{ type: 'ToolApprovalResponded', data: { conversationId, messageId: answerId, callId, approved } }];
};

export const waiting = (
  turn: OpenTurn,
  {
    model,
    usage,
    degraded,
    passages,
    sources,
    invocations,
    began,
    provenance,
  }: EventOf<typeof toolApprovalRequested>['data'],
): OpenTurn => ({
  ...turn,
  isWaiting: true,
  paused: {
    model,
    usage,
    ...(degraded === undefined ? {} : { degraded }),
    ...(invocations === undefined ? {} : { invocations }),
    ...(began === undefined ? {} : { began }),
    ...(provenance === undefined ? {} : { provenance }),
    ...(passages === undefined ? {} : { passages }),
    ...(sources === undefined ? {} : { sources }),
  },
});

export const responded = (
  turn: OpenTurn,
  { callId, approved }: EventOf<typeof toolApprovalResponded>['data'],
): OpenTurn => {
  const parts = turn.parts.map((part): MessagePart =>
    part.type === 'tool' && part.toolCallId === callId
      ? { ...part, state: 'approval-responded', approval: { approved } }
      : part,
  );
  return { ...turn, parts, isWaiting: requestedIn(parts).length > 0 };
};

/** A passage as it is kept: a retriever gives more of each, such as its ranks. */
export const keptPassage = ({
  documentId,
  documentName,
  documentRevision,
  mediaType,
  headings,
  chunks,
  ...passage
}: RetrievedPassage) => ({
  documentId,
  documentName,
  documentRevision,
  mediaType,
  headings: [...headings],
  ...keptChunk(passage),
  ...placeOf(passage),
  chunks: chunks.map(keptChunk),
});

const keptChunk = ({ chunkId, text, start, end }: RetrievedPassage['chunks'][number]) => ({
  chunkId,
  text,
  start,
  end,
});

const requestedIn = (parts: readonly MessagePart[]): readonly ToolPart[] =>
  parts.filter((part): part is ToolPart => part.type === 'tool' && part.state === 'approval-requested');

import type { Map as PersistentMap } from 'immutable';
import type { EventsOf, RecordedEvent } from '@app/kernel';
import type { Boundary, checkpointEvents, Invocation } from './checkpoint.events';
import type { LiveConversation } from './conversation.decider';

export type CheckpointEvent = EventsOf<typeof checkpointEvents>;

/** A summary of a branch up to a boundary. Whatever branch has the boundary's message has the same messages before it. */
export interface Checkpoint {
  readonly checkpointId: string;
  readonly boundary: Boundary;
  /** The revision of the event that holds its summary. */
  readonly place: number;
}

/** By their ids, the oldest first. */
export type Checkpoints = PersistentMap<string, Checkpoint>;

export interface Compact {
  readonly type: 'Compact';
  readonly checkpointId: string;
  readonly previousId: string | null;
  readonly boundary: Boundary;
  /** The messages that it was made from. */
  readonly messageIds: readonly string[];
  readonly summary: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly model: string;
  readonly invocations: readonly Invocation[];
  readonly skillIds: readonly string[];
}

/** Deletion of a summary that is erased already. */
interface RemoveCheckpoint {
  readonly type: 'RemoveCheckpoint';
  readonly checkpointId: string;
}

export type CheckpointCommand = Compact | RemoveCheckpoint;

/** A checkpoint is not recorded where some of what it was made from was deleted meanwhile, or another process recorded one at its boundary. */
export const decideCheckpoint = (
  command: CheckpointCommand,
  state: Pick<LiveConversation, 'conversationId' | 'checkpoints' | 'parents'>,
): readonly CheckpointEvent[] => {
  const { checkpointId } = command;
  if (command.type === 'RemoveCheckpoint') return checkpointDeleted(checkpointId, state);
  const { previousId, boundary, messageIds, summary, tokensBefore, tokensAfter, model, invocations, skillIds } =
    command;
  if (state.checkpoints.has(checkpointId)) return [];
  if (![boundary.messageId, ...messageIds].every((messageId) => state.parents.has(messageId))) return [];
  if (previousId !== null && !state.checkpoints.has(previousId)) return [];
  if (hasCheckpointAt(boundary, state)) return [];
  const { conversationId } = state;
  const made = { summary, tokensBefore, tokensAfter, model, invocations: [...invocations] };
  const loaded = skillIds.length === 0 ? {} : { skillIds: [...skillIds] };
  return [
    { type: 'ConversationCompacted', data: { conversationId, checkpointId, previousId, boundary, ...made, ...loaded } },
  ];
};

const hasCheckpointAt = (
  { messageId, part, offset }: Boundary,
  { checkpoints }: Pick<LiveConversation, 'checkpoints'>,
): boolean =>
  checkpoints.some(
    ({ boundary }) => boundary.messageId === messageId && boundary.part === part && boundary.offset === offset,
  );

/** The checkpoints that there are after one was made or deleted. */
export const checkpointsAfter = (checkpoints: Checkpoints, { type, data, context }: RecordedEvent<CheckpointEvent>) =>
  type === 'CheckpointDeleted'
    ? checkpoints.delete(data.checkpointId)
    : checkpoints.set(data.checkpointId, {
        checkpointId: data.checkpointId,
        boundary: data.boundary,
        place: context.revision,
      });

/** Deletes a summary. Nothing for one that is unknown, or deleted. */
export const checkpointDeleted = (
  checkpointId: string,
  { checkpoints }: Pick<LiveConversation, 'checkpoints'>,
): readonly CheckpointEvent[] =>
  checkpoints.has(checkpointId) ? [{ type: 'CheckpointDeleted', data: { checkpointId } }] : [];

/** The summaries that may hold what a message says: those whose boundary falls into it or behind it. */
export const checkpointsWith = (
  messageId: string,
  { checkpoints, parents }: Pick<LiveConversation, 'checkpoints' | 'parents'>,
): readonly string[] =>
  [...checkpoints.values()].flatMap(({ checkpointId, boundary }) => {
    for (let at: string | null = boundary.messageId; at !== null; at = parents.get(at) ?? null)
      if (at === messageId) return [checkpointId];
    return [];
  });

/** The newest summary of the branch that ends with a message which was made since that was said. */
export const checkpointSince = (
  last: string,
  { checkpoints, parents, places }: Pick<LiveConversation, 'checkpoints' | 'parents' | 'places'>,
): Checkpoint | undefined => {
  const since = checkpoints.filter(({ place }) => place > (places.get(last) ?? Infinity));
  if (since.isEmpty()) return undefined;
  const branch = new Set<string>();
  for (let at: string | null = last; at !== null; at = parents.get(at) ?? null) branch.add(at);
  return [...since.values()].findLast(({ boundary }) => branch.has(boundary.messageId));
};

/** The checkpoint whose boundary stands in a message, the furthest if there are several. */
export const checkpointIn = (checkpoints: Checkpoints, messageId: string): Checkpoint | undefined =>
  [...checkpoints.values()]
    .filter(({ boundary }) => boundary.messageId === messageId)
    .toSorted((a, b) => a.boundary.part - b.boundary.part || a.boundary.offset - b.boundary.offset)
    .at(-1);

import {
  type Clock,
  type Decisions,
  idOf,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import type { Policy } from '@app/projecting';
import { documentDecider } from '../document/document.decider';
import type { DocumentEvent } from '../document/document.events';

const NAME = 'delete-knowledge-of-the-deleted';

export interface DeletionParts {
  readonly decisions: Decisions;
  readonly log: StreamReader;
  readonly clock: Clock;
  /** Ids of the documents of an Agent or a Space, complete up to the event at `position`. */
  readonly documentsOf: (
    owner: { readonly agentId: string } | { readonly spaceId: string },
    position: string,
  ) => Promise<readonly string[]>;
}

/**
 * Deletes the documents of a deleted Agent or Space. Documents added before the deletion are in the view; one added after it,
 * by a concurrent request, is handled by its own event. Repeating it after a crash changes nothing.
 */
export const deleteKnowledge = ({ decisions, log, clock, documentsOf }: DeletionParts): Policy => {
  const remove = async (documentId: string, event: RecordedEvent): Promise<void> => {
    await decisions.transact(
      documentDecider,
      documentId,
      { type: 'Delete' },
      stepOf(reactionTo(event, NAME, clock.now()), documentId),
    );
  };
  const isDeleted = async (stream: string, type: string): Promise<boolean> =>
    (await log.readStream(stream, { direction: 'backwards', limit: 1 }))[0]?.type === type;

  const react = async (event: RecordedEvent): Promise<void> => {
    const id = idOf(event.context.stream);
    if (event.type !== 'DocumentAdded') {
      const owner = event.type === 'AgentDeleted' ? { agentId: id } : { spaceId: id };
      for (const documentId of await documentsOf(owner, event.context.position)) await remove(documentId, event);
      return;
    }
    const { agentId, spaceId } = (event as RecordedEvent & Extract<DocumentEvent, { type: 'DocumentAdded' }>).data;
    const orphaned =
      (agentId !== null && (await isDeleted(`agent-${agentId}`, 'AgentDeleted'))) ||
      (spaceId !== null && (await isDeleted(`space-${spaceId}`, 'SpaceDeleted')));
    if (orphaned) await remove(id, event);
  };
  return { name: NAME, types: ['AgentDeleted', 'SpaceDeleted', 'DocumentAdded'], react };
};

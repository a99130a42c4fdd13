import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  Decisions,
  eachOfAll,
  idOf,
  isDeleted,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { documentDecider } from '../document/document.decider';
import type { DocumentEvent } from '../document/document.events';
import { DOCUMENTS_OF, type DocumentsOf } from '../lookups';

type DocumentAdded = RecordedEvent & Extract<DocumentEvent, { type: 'DocumentAdded' }>;

/**
 * Deletes the documents of a deleted Agent or Space. Documents added before the deletion are in the view; one added after it,
 * by a concurrent request, is handled by its own event. Repeating it after a crash changes nothing.
 */
@PolicyHandler()
export class DeleteKnowledgeOfTheDeleted implements Policy {
  readonly name = 'delete-knowledge-of-the-deleted';
  readonly types = ['AgentDeleted', 'SpaceDeleted', 'DocumentAdded'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(DOCUMENTS_OF) private readonly documentsOf: DocumentsOf,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    if (event.type !== 'DocumentAdded') {
      const owner = event.type === 'AgentDeleted' ? { agentId: id } : { spaceId: id };
      await eachOfAll(await this.documentsOf(owner, event.context.position), (documentId) =>
        this.remove(documentId, event),
      );
    } else if (await this.isOrphaned(event as DocumentAdded)) await this.remove(id, event);
  }

  private async isOrphaned({ data: { agentId, spaceId } }: DocumentAdded): Promise<boolean> {
    return (
      (agentId !== null && (await isDeleted(this.log, `agent-${agentId}`, 'AgentDeleted'))) ||
      (spaceId !== null && (await isDeleted(this.log, `space-${spaceId}`, 'SpaceDeleted')))
    );
  }

  private async remove(documentId: string, event: RecordedEvent): Promise<void> {
    const meta = stepOf(reactionTo(event, this.name, this.clock.now()), documentId);
    await this.decisions.transact(documentDecider, documentId, { type: 'Delete' }, meta);
  }
}

import { Decisions } from '@app/kernel';
import { DeletionWithOwner, type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { documentDecider } from '../document/document.decider';
import { documentAdded } from '../document/document.events';
import { DOCUMENTS_OF, type DocumentsOf } from '../lookups';

/** Deletes the documents of a deleted Agent or Space. */
@PolicyHandler()
export class DeleteKnowledgeOfTheDeleted implements Policy {
  readonly name = 'delete-knowledge-of-the-deleted';
  readonly types: Policy['types'];
  readonly react: Policy['react'];

  constructor(decisions: Decisions, deletion: DeletionWithOwner, @Inject(DOCUMENTS_OF) documentsOf: DocumentsOf) {
    ({ types: this.types, react: this.react } = deletion.of(this.name, {
      with: {
        AgentDeleted: (agentId, position) => documentsOf({ agentId }, position),
        SpaceDeleted: (spaceId, position) => documentsOf({ spaceId }, position),
      },
      made: documentAdded,
      remove: (documentId, meta) => decisions.transact(documentDecider, documentId, { type: 'Delete' }, meta),
    }));
  }
}

import { Access, type AgentAccess, type Caller } from '@app/access';
import { isDomainError, reject } from '@app/kernel';
import type { DocumentScope } from '@app/knowledge';
import { type DocumentRow, GetDocument } from '@projections/documents';
import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';

/** Who asks for which document. */
export interface AskedDocument {
  readonly caller: Caller;
  readonly agentId: string;
  readonly documentId: string;
}

/** An Agent and one of the documents it can search. */
export interface DocumentAccess extends AgentAccess {
  readonly document: DocumentRow;
}

/** Who may read and change documents: they are reached through an Agent that searches them. */
@Injectable()
export class KnowledgeAccess {
  constructor(
    private readonly access: Access,
    private readonly queries: QueryBus,
  ) {}

  /** Rejects `not_found` for documents that the Agent does not search. */
  async read(caller: Caller, agentId: string, documentId: string): Promise<DocumentAccess> {
    const agent = await this.access.agent(caller, agentId, 'use');
    return { ...agent, document: await this.queries.execute(new GetDocument(agent, documentId)) };
  }

  /** As `read`; rejects `forbidden` to those who may only read. */
  async change(caller: Caller, agentId: string, documentId: string): Promise<DocumentAccess> {
    const found = await this.read(caller, agentId, documentId);
    await this.write(caller, agentId, found.document.scope);
    return found;
  }

  /** Documents of an Agent or a Space are changed by the editors of the Space, global ones by admins. */
  async write(caller: Caller, agentId: string, scope: DocumentScope): Promise<AgentAccess> {
    if (scope !== 'global') return this.access.agent(caller, agentId, 'edit');
    const agent = await this.access.agent(caller, agentId, 'use');
    return caller.role === 'admin' ? agent : reject('forbidden', { reason: 'admins_only' });
  }

  /** The levels at which a caller may change documents that the Agent searches. */
  async levels(caller: Caller, agentId: string): Promise<ReadonlySet<DocumentScope>> {
    const levels = new Set<DocumentScope>();
    for (const scope of ['agent', 'space', 'global'] as const) {
      try {
        await this.write(caller, agentId, scope);
        levels.add(scope);
      } catch (error) {
        if (!isDomainError(error, 'forbidden')) throw error;
      }
    }
    return levels;
  }

  /** Before a body is read: whoever may write at no level is rejected at once. */
  async writeSomewhere(caller: Caller, agentId: string): Promise<AgentAccess> {
    const agent = await this.access.agent(caller, agentId, 'use');
    if (caller.role === 'admin') return agent;
    return this.access.agent(caller, agentId, 'edit');
  }
}

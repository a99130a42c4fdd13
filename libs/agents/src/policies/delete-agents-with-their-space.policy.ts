import { Decisions } from '@app/kernel';
import { DeletionWithOwner, type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { agentDecider } from '../agent/agent.decider';
import { agentCreated } from '../agent/agent.events';
import { AGENTS_OF_SPACE, type AgentsOfSpace } from '../lookups';

/** Deletes the Agents of a deleted Space, the personal one too. */
@PolicyHandler()
export class DeleteAgentsWithTheirSpace implements Policy {
  readonly name = 'delete-agents-with-their-space';
  readonly types: Policy['types'];
  readonly react: Policy['react'];

  constructor(decisions: Decisions, deletion: DeletionWithOwner, @Inject(AGENTS_OF_SPACE) agentsOf: AgentsOfSpace) {
    ({ types: this.types, react: this.react } = deletion.of(this.name, {
      with: { SpaceDeleted: agentsOf },
      made: agentCreated,
      remove: (agentId, meta) => decisions.transact(agentDecider, agentId, { type: 'Delete', withSpace: true }, meta),
    }));
  }
}

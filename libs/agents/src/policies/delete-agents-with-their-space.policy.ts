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
import { agentDecider } from '../agent/agent.decider';
import { AGENTS_OF_SPACE, type AgentsOfSpace } from '../lookups';

/** Deletes the Agents of a deleted Space, the personal one too. An Agent created meanwhile is handled by its own event. */
@PolicyHandler()
export class DeleteAgentsWithTheirSpace implements Policy {
  readonly name = 'delete-agents-with-their-space';
  readonly types = ['SpaceDeleted', 'AgentCreated'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(AGENTS_OF_SPACE) private readonly agentsOf: AgentsOfSpace,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    if (event.type === 'SpaceDeleted')
      await eachOfAll(await this.agentsOf(id, event.context.position), (agentId) => this.remove(agentId, event));
    else if (await isDeleted(this.log, `space-${String(event.data['spaceId'])}`, 'SpaceDeleted'))
      await this.remove(id, event);
  }

  private async remove(agentId: string, event: RecordedEvent): Promise<void> {
    const meta = stepOf(reactionTo(event, this.name, this.clock.now()), agentId);
    await this.decisions.transact(agentDecider, agentId, { type: 'Delete', withSpace: true }, meta);
  }
}

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
import { agentDecider } from '../agent/agent.decider';

const NAME = 'delete-agents-with-their-space';

export interface DeleteAgentsParts {
  readonly decisions: Decisions;
  readonly log: StreamReader;
  readonly clock: Clock;
  /** Ids of the Agents of a Space, complete up to the event at `position`. */
  readonly agentsOf: (spaceId: string, position: string) => Promise<readonly string[]>;
}

/** Deletes the Agents of a deleted Space, the personal one too. An Agent created meanwhile is handled by its own event. */
export const deleteAgents = ({ decisions, log, clock, agentsOf }: DeleteAgentsParts): Policy => {
  const remove = async (agentId: string, event: RecordedEvent): Promise<void> => {
    await decisions.transact(
      agentDecider,
      agentId,
      { type: 'Delete', withSpace: true },
      stepOf(reactionTo(event, NAME, clock.now()), agentId),
    );
  };
  const isSpaceDeleted = async (spaceId: string): Promise<boolean> =>
    (await log.readStream(`space-${spaceId}`, { direction: 'backwards', limit: 1 }))[0]?.type === 'SpaceDeleted';

  return {
    name: NAME,
    types: ['SpaceDeleted', 'AgentCreated'],
    react: async (event) => {
      const id = idOf(event.context.stream);
      if (event.type === 'SpaceDeleted')
        for (const agentId of await agentsOf(id, event.context.position)) await remove(agentId, event);
      else if (await isSpaceDeleted(String(event.data['spaceId']))) await remove(id, event);
    },
  };
};

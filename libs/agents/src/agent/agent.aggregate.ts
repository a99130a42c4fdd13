import { defineAggregate, namedIn, ownKey, ownStream } from '@app/kernel';
import { agentDecider } from './agent.decider';
import { agentEvents } from './agent.events';
import { agentIntegrations } from './agent.integrations';

export const agentAggregate = defineAggregate(agentDecider, agentEvents, {
  erasure: {
    by: { AgentDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(agentDecider, id, { type: 'Delete', withSpace: true }, meta),
  },
  integrations: agentIntegrations,
  kinds: { agent: ownStream('agent', namedIn('space', 'spaceId')) },
});

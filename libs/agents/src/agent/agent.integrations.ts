import { defineIntegration, given, type Integrations, integrationEvent } from '@app/kernel';
import { z } from 'zod';
import { agentConfig } from './agent-config';
import type { AgentEvent } from './agent.events';

const subject = 'agents';
const id = z.uuid();
const changed = agentConfig.keyof();

const created = defineIntegration({
  name: 'agent.created',
  version: 1,
  subject,
  description:
    'An Agent was created in a Space. `automatic`: it is the chat Agent that each user gets; `model` is a key of the model catalogue.',
  data: z.object({
    agentId: id,
    spaceId: id,
    isPersonal: z.boolean(),
    automatic: z.boolean(),
    ownerId: id.nullable(),
    model: z.string(),
  }),
});
const updated = defineIntegration({
  name: 'agent.updated',
  version: 1,
  subject,
  description: 'The configuration of an Agent changed: which fields, not their values.',
  data: z.object({ agentId: id, changed: z.array(changed) }),
});
const deleted = defineIntegration({
  name: 'agent.deleted',
  version: 1,
  subject,
  description: 'An Agent was deleted permanently. Its documents and conversations follow with their own events.',
  data: z.object({ agentId: id, spaceId: id }),
});

export const agentIntegrations: Integrations<AgentEvent> = {
  definitions: [created, updated, deleted],
  mapping: {
    AgentCreated: ({ spaceId, isPersonal, automatic, ownerId, model }, agentId) =>
      integrationEvent(created, { agentId, spaceId, isPersonal, automatic, ownerId, model }),
    AgentChanged: (change, agentId) => integrationEvent(updated, { agentId, changed: given(changed, change) }),
    AgentDeleted: ({ spaceId }, agentId) => integrationEvent(deleted, { agentId, spaceId }),
  },
};
